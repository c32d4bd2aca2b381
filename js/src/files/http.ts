/** Files over the server's HTTP: the bytes as they are, not as JSON, and streamed by the browser. */

import { AskError } from '../channel/asked.js';
import { fetchOptions, serverUrl } from '../channel/server.js';
import type { FileEntry } from '../protocol.gen.js';
import type { Asker, FileBytes, FileService, FileToWrite } from './service.js';

/** The server's own error, or, where something else answered, a sentence about it. */
async function failure(response: Response): Promise<AskError> {
  const body: unknown = await response.json().catch(() => null);
  const { code, message } = (body ?? {}) as Record<string, unknown>;
  if (typeof code === 'string' && typeof message === 'string') return new AskError(code, message);
  return new AskError('STORAGE_FAILED', `The server answered ${response.status} ${response.statusText}`.trim() + '.');
}

export class HttpFiles implements FileService {
  constructor(private readonly session: string) {}

  async read(by: Asker, path: string): Promise<FileBytes> {
    const response = await this.#fetch('file', by, { path, raw: '1' });
    const version = response.headers.get('ETag')?.replace(/^(?:W\/)?"|"$/g, '') ?? '';
    return { blob: await this.#read(response.blob()), version };
  }

  async write(by: Asker, { path, content, ifMatch }: FileToWrite): Promise<string> {
    const parameters = { path, raw: '1', ...(ifMatch === undefined ? {} : { ifMatch }) };
    const body = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const response = await this.#fetch('file', by, parameters, body);
    const { version } = (await this.#read(response.json())) as { version?: unknown };
    return String(version);
  }

  async list(by: Asker, path: string): Promise<FileEntry[]> {
    const response = await this.#fetch('list', by, { path });
    return ((await this.#read(response.json())) as { files: FileEntry[] }).files;
  }

  async #fetch(what: string, { windowId, revision, consent }: Asker, parameters: Record<string, string>, body?: BodyInit): Promise<Response> {
    const by = { session: this.session, windowId, revision: String(revision), ...(consent ? { consent: '1' } : {}) };
    const url = serverUrl(`api/applet/${what}`, { ...by, ...parameters });
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
