/** Owns the HTML of a content that comes in pieces: in order, each once, whatever was sent again. */

import type { ContentChunk } from './protocol.gen.js';

/** The host counts characters, where a JavaScript string counts UTF-16 units. */
const characters = (text: string): string[] => Array.from(text);

export class StreamedHtml {
  #length: number;

  constructor(public html: string) {
    this.#length = characters(html).length;
  }

  /** What of the piece is new, or null when something before it is missing. */
  take({ at, html }: Pick<ContentChunk, 'at' | 'html'>): string | null {
    if (at > this.#length) return null;
    const fresh = characters(html).slice(this.#length - at);
    this.#length += fresh.length;
    const text = fresh.join('');
    this.html += text;
    return text;
  }

  /** What is new in the whole of it so far. */
  catchUp(whole: string): string {
    return whole.startsWith(this.html) ? (this.take({ at: 0, html: whole }) ?? '') : '';
  }
}
