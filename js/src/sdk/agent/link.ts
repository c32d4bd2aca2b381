/** Owns the SDK's end of the port to the page's agent half: a number for each thing under way, and who hears of it. */

import type { FromAgentSdk, ToAgentSdk } from '../../agent/words.js';

/** Without the number, which is given here. */
type Begin = FromAgentSdk extends infer Word ? (Word extends { type: 'invoke' | 'request' } ? Omit<Word, 'id'> : never) : never;

export class Link {
  #last = 0;
  readonly #open = new Map<number, (word: ToAgentSdk) => void>();

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent<ToAgentSdk>) => {
      const hear = this.#open.get(data.id);
      if (data.type === 'end') this.#open.delete(data.id);
      hear?.(data);
    };
  }

  /** The number by which it goes on. */
  begin(word: Begin, hear: (word: ToAgentSdk) => void): number {
    const id = (this.#last += 1);
    this.#open.set(id, hear);
    this.port.postMessage({ ...word, id });
    return id;
  }

  more(id: number): void {
    this.port.postMessage({ type: 'more', id });
  }

  /** Nothing more is heard of it. */
  cancel(id: number): void {
    if (this.#open.delete(id)) this.port.postMessage({ type: 'cancel', id });
  }
}
