/** Owns the applet's way to the workspace's files: reading, writing, listing, and being told of changes. */

import type { FileNotice } from '../frame/messages.js';
import type { FileEntry } from '../protocol.gen.js';
import { textOrNull } from './bytes.js';
import { type Call, CallError } from './calls.js';
import { callAll, checkFunction, messageOf } from './json.js';
import { mediaType } from './mime.js';
import type { OwnFiles } from './own.js';

export interface FileData {
  bytes: ArrayBuffer;
  version: string;
}

type Content = string | ArrayBuffer | ArrayBufferView | Blob;
type Listener = (notice: Pick<FileNotice, 'path' | 'event'>) => unknown;

function checkPath(path: unknown, name: string): asserts path is string {
  if (typeof path !== 'string') throw new TypeError(`${name}: the path must be a string.`);
}

/** The content as it can be sent: text, or bytes of which nobody else has a hold. */
async function sendable(content: Content): Promise<string | ArrayBuffer> {
  if (typeof content === 'string') return content;
  if (content instanceof Blob) return content.arrayBuffer();
  // A copy: what is transferred is gone for the applet, and may be part of something larger.
  if (content instanceof ArrayBuffer) return content.slice(0);
  if (ArrayBuffer.isView(content)) {
    return new Uint8Array(new Uint8Array(content.buffer, content.byteOffset, content.byteLength)).buffer;
  }
  throw new TypeError('writeFile: the content must be text, an ArrayBuffer, a typed array or a Blob. For an object, JSON.stringify it.');
}

export class Files {
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(
    private readonly call: Call,
    private readonly own: OwnFiles,
  ) {}

  /** The bytes as they are, and their version. */
  async load(path: string): Promise<FileData> {
    checkPath(path, 'readFile');
    const { blob, version } = await this.#open(path);
    return { bytes: await blob.arrayBuffer(), version };
  }

  async read(path: string, { as = 'text' }: { as?: 'text' | 'bytes' | 'json' } = {}): Promise<unknown> {
    if (!['text', 'bytes', 'json'].includes(as)) throw new TypeError(`readFile: as must be 'text', 'bytes' or 'json', not '${as}'.`);
    const { bytes } = await this.load(path);
    if (as === 'bytes') return new Uint8Array(bytes);
    const text = textOrNull(bytes);
    if (text === null) throw new CallError(`'${path}' is no text. Read it with readFile(path, {as: 'bytes'}).`, 'NOT_TEXT');
    if (as === 'text') return text;
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new CallError(`'${path}' is no JSON: ${messageOf(error)}`, 'NOT_JSON');
    }
  }

  /** `ifMatch` is the version that may be replaced. */
  async write(path: string, content: Content, { ifMatch }: { ifMatch?: string } = {}): Promise<{ version: string }> {
    checkPath(path, 'writeFile');
    const sent = await sendable(content);
    const args = { path, content: sent, ...(ifMatch === undefined ? {} : { ifMatch }) };
    const { version } = await this.call<{ version: string }>('writeFile', args, typeof sent === 'string' ? [] : [sent]);
    return { version };
  }

  async list(path = ''): Promise<FileEntry[]> {
    checkPath(path, 'listFiles');
    return (await this.call<{ files: FileEntry[] }>('listFiles', { path })).files;
  }

  /** Several listeners of one path are one subscription. */
  subscribe(path: string, listener: Listener): () => void {
    checkPath(path, 'subscribeFile');
    checkFunction(listener, 'subscribeFile');
    const own: Listener = (notice) => listener(notice);
    const listeners = this.#listeners.get(path) ?? this.#begin(path);
    listeners.add(own);
    return () => {
      if (!listeners.delete(own) || listeners.size || this.#listeners.get(path) !== listeners) return;
      this.#listeners.delete(path);
      this.call('unsubscribeFile', { path }).catch(() => {});
    };
  }

  /** A fresh blob URL of the file; it lives as long as the document does. */
  async url(path: string): Promise<string> {
    checkPath(path, 'applet.files.url');
    const own = path.startsWith('applet:') ? this.own.find(path) : null;
    if (own !== null) return this.own.url(own);
    const { blob } = await this.#open(path);
    return URL.createObjectURL(blob.slice(0, blob.size, mediaType(path)));
  }

  /** Of a folder, what is told has the path of the file in it. */
  notice({ path, event }: FileNotice): void {
    for (const [subscribed, listeners] of this.#listeners) {
      const folder = subscribed === '' || subscribed.endsWith('/') ? subscribed : `${subscribed}/`;
      if (path === subscribed || path.startsWith(folder)) callAll(listeners, { path, event });
    }
  }

  #open(path: string): Promise<{ blob: Blob; version: string }> {
    return this.call('readFile', { path });
  }

  #begin(path: string): Set<Listener> {
    const listeners = new Set<Listener>();
    this.#listeners.set(path, listeners);
    this.call('subscribeFile', { path }).catch((error: unknown) => {
      if (this.#listeners.get(path) === listeners) this.#listeners.delete(path);
      console.error(`subscribeFile: '${path}' is not watched. ${messageOf(error)}`);
    });
    return listeners;
  }
}
