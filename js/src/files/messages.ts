/** Files by the channel's own messages, for pages that reach their host over a comm alone. */

import type { Askable, Reply } from '../channel/asked.js';
import type { FileContent, FileEntry } from '../protocol.gen.js';
import type { Asker, FileBytes, FileService, FileToWrite } from './service.js';

/** String.fromCharCode takes its characters as arguments, of which there may not be too many. */
const STEP = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += STEP) text += String.fromCharCode(...bytes.subarray(at, at + STEP));
  return btoa(text);
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** The pieces of one file, each text or base64 by itself. */
export function join(pieces: readonly FileContent[]): ArrayBuffer {
  const encoder = new TextEncoder();
  const parts = pieces.map(({ chunk, encoding }) => (encoding === 'base64' ? fromBase64(chunk) : encoder.encode(chunk)));
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}

export class MessageFiles implements FileService {
  constructor(private readonly ask: (message: Askable) => Promise<Reply[]>) {}

  async read(by: Asker, path: string): Promise<FileBytes> {
    const pieces = (await this.ask({ type: 'readFile', path, ...by })) as FileContent[];
    return { blob: new Blob([join(pieces)]), version: pieces.at(-1)?.version ?? '' };
  }

  async write(by: Asker, { path, content, ifMatch }: FileToWrite): Promise<string> {
    const isText = typeof content === 'string';
    const body = isText ? { content } : { content: toBase64(new Uint8Array(content)), encoding: 'base64' as const };
    const [written] = await this.ask({ type: 'writeFile', path, ...by, ...body, ...(ifMatch === undefined ? {} : { ifMatch }) });
    return written?.type === 'fileWritten' ? written.version : '';
  }

  async list(by: Asker, path: string): Promise<FileEntry[]> {
    const [list] = await this.ask({ type: 'listFiles', path, ...by });
    return list?.type === 'fileList' ? list.files : [];
  }
}
