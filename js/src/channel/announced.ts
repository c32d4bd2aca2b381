/**
 * Remembers which documents a host was told are ready. After a cut the page says so (`settled`):
 * even a host that is new then does not restore what the user has gone on working with.
 */

import type { FromPage, ViewState } from '../protocol.gen.js';

export class Announced {
  /** The last document by view. */
  readonly #documents = new Map<string, number>();

  /** The state for a hello: it says whether the document was announced before. */
  mark(state: ViewState): ViewState {
    const { viewId, document = 0, ready } = state;
    return ready && this.#documents.get(viewId) === document ? { ...state, settled: true } : state;
  }

  /** `message` went out. */
  note(message: FromPage): void {
    switch (message.type) {
      case 'hello':
        for (const view of message.views ?? []) this.#noteView(view);
        break;
      case 'viewOpened':
        this.#noteView(message.view);
        break;
      case 'APP_PROTOCOL_READY':
        if (message.viewId) this.#documents.set(message.viewId, message.document ?? 0);
        break;
    }
  }

  forget(viewId: string): void {
    this.#documents.delete(viewId);
  }

  #noteView({ viewId, document = 0, ready }: ViewState): void {
    if (ready) this.#documents.set(viewId, document);
  }
}
