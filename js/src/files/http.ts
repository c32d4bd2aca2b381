/** Files over the server's HTTP: the bytes as they are, not as JSON, and streamed by the browser. */

import { AskError } from '../channel/asked.js';
import { fetchOptions, serverUrl } from '../channel/server.js';
import type { FileEntry } from '../protocol.gen.js';
import type { FileBytes, FileService, FileToWrite } from './service.js';

/** The server's own error, or, where something else answered, a sentence about it. */
async function failure(response: Response): Promise<AskError> {
  const body: unknown = await response.json().catch(() => null);
  const { code, message } = (body ?? {}) as Record<string, unknown>;
  if (typeof code === 'string' && typeof message === 'string') return new AskError(code, message);
  return new AskError('STORAGE_FAILED', `The server answered ${response.status} ${response.statusText}`.trim() + '.');
}

export class HttpFiles implements FileService {
  constructor(private readonly session: string) {}

  async read(windowId: string, path: string, consent: boolean): Promise<FileBytes> {
    const response = await this.#fetch('file', { windowId, path, raw: '1' }, consent);
    const version = response.headers.get('ETag')?.replace(/^(?:W\/)?"|"$/g, '') ?? '';
    return { blob: await this.#read(response.blob()), version };
  }

  async write(windowId: string, { path, content, ifMatch }: FileToWrite, consent: boolean): Promise<string> {
    const parameters = { windowId, path, raw: '1', ...(ifMatch === undefined ? {} : { ifMatch }) };
    const body = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const response = await this.#fetch('file', parameters, consent, body);
    const { version } = (await this.#read(response.json())) as { version?: unknown };
    return String(version);
  }

  async list(windowId: string, path: string, consent: boolean): Promise<FileEntry[]> {
    const response = await this.#fetch('list', { windowId, path }, consent);
    return ((await this.#read(response.json())) as { files: FileEntry[] }).files;
  }

  async #fetch(what: string, parameters: Record<string, string>, consent: boolean, body?: BodyInit): Promise<Response> {
    const url = serverUrl(`api/applet/${what}`, { session: this.session, ...parameters, ...(consent ? { consent: '1' } : {}) });
    const options: RequestInit = { ...fetchOptions(), cache: 'no-store' };
    if (body !== undefined) {
      options.method = 'POST';
      options.body = body;
      options.headers = { ...(options.headers as Record<string, string>), 'Content-Type': 'application/octet-stream' };
    }
    const response = await this.#read(fetch(url ?? '', options));
    if (!response.ok) throw await failure(response);
    return response;
  }

  /** What the network breaks is a lost link. */
  #read<T>(promise: Promise<T>): Promise<T> {
    return promise.catch((error: unknown) => {
      throw new AskError('LINK_LOST', `The server could not be reached: ${error}`);
    });
  }
}
