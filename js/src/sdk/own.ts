/** Owns the files that came with the applet, which it names by `applet:/` and their path. */

import type { AppletFile } from '../protocol.gen.js';
import { fromBase64, textOrNull } from './bytes.js';
import { mediaType } from './mime.js';

export const ROOT = 'applet:/';

/** A path that is no URL: it has no scheme, is no place on another server, and no place in this document. */
export const isPlainPath = (text: string): boolean => text !== '' && !/^(?:[a-z][a-z0-9+.-]*:|\/\/|#|\?)/i.test(text);

/** Where `reference` leads from `base`, as `applet:/…`; null when that is nowhere in the applet. */
export function resolveOwn(reference: string, base = ROOT): string | null {
  if (!isPlainPath(reference) && !reference.startsWith(ROOT)) return null;
  try {
    return new URL(reference, base).href;
  } catch {
    return null;
  }
}

export class OwnFiles {
  readonly #files: Map<string, AppletFile>;
  readonly #urls = new Map<string, string>();

  constructor(files: Record<string, AppletFile> = {}) {
    this.#files = new Map(Object.entries(files));
  }

  /** The paths, as the applet's folder has them. */
  get paths(): string[] {
    return [...this.#files.keys()];
  }

  /** The path of the file that `reference` names, or null when there is none. */
  find(reference: string, base = ROOT): string | null {
    const url = resolveOwn(reference, base);
    const path = url?.slice(ROOT.length).replace(/[?#].*$/, '') ?? '';
    for (const name of [path, decoded(path)]) if (this.#files.has(name)) return name;
    return null;
  }

  text(path: string): string {
    const { text, base64 } = this.#files.get(path) ?? {};
    return text ?? textOrNull(fromBase64(base64 ?? '')) ?? '';
  }

  blob(path: string): Blob {
    const { text, base64 } = this.#files.get(path) ?? {};
    return new Blob([text ?? fromBase64(base64 ?? '')], { type: mediaType(path) });
  }

  /** Lives as long as the document does. */
  url(path: string): string {
    let url = this.#urls.get(path);
    if (url === undefined) this.#urls.set(path, (url = URL.createObjectURL(this.blob(path))));
    return url;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
