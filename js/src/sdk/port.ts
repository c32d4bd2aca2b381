/** Owns the port to the page: the handshake with the outer frame, and one batch of messages per tick. */

import type { FromSdk, Greeting } from '../frame/messages.js';
import type { PortNotice, PortResponse } from '../protocol.gen.js';

/** What may wait for the port; beyond it the oldest is dropped that nobody waits for. */
const LIMIT = 1000;
const KEPT = ['applet:call', 'applet:set-state', 'yaar:app-ready'];

type Outgoing = PortResponse | PortNotice | FromSdk;

/** Where batches go. */
export interface FarEnd {
  postMessage(batch: Outgoing[], transfer: Transferable[]): void;
}

export class Port {
  #port: FarEnd | null = null;
  #queue: Outgoing[] = [];
  #transfer: Transferable[] = [];
  #scheduled = false;
  #key: string | null = null;
  #received: (message: unknown) => void = () => {};

  /** Asks for the port. `received` gets each message of the page. */
  connect(key: string, received: (message: unknown) => void): void {
    this.#key = key;
    this.#received = received;
    this.listen();
    this.#tell('applet:hello');
  }

  /** In place of `connect`, where there is no page: `far` takes what would go to it. */
  attach(far: FarEnd): void {
    this.#port = far;
  }

  /** The document goes away: what waits goes out at once, and the farewell after it. */
  leave(): void {
    this.#flush();
    this.#tell('applet:leaving');
  }

  /** Again after the applet's script ran: `document.write` in it takes away every listener of the window. */
  listen(): void {
    if (!this.#port) window.addEventListener('message', this.#onMessage);
  }

  send(message: Outgoing, transfer: Transferable[] = []): void {
    this.#queue.push(message);
    this.#transfer.push(...transfer);
    if (!this.#port) {
      const oldest = this.#queue.length > LIMIT ? this.#queue.findIndex(({ type }) => !KEPT.includes(type)) : -1;
      if (oldest >= 0) this.#queue.splice(oldest, 1);
    } else if (!this.#scheduled) {
      this.#scheduled = true;
      queueMicrotask(() => this.#flush());
    }
  }

  readonly #onMessage = (event: MessageEvent): void => {
    const port = event.ports[0];
    if (event.source !== window.parent || event.data?.type !== 'applet:port' || !port) return;
    event.stopImmediatePropagation();
    port.onmessage = ({ data }) => {
      for (const message of Array.isArray(data) ? data : [data]) this.#take(message);
    };
    this.#port = port;
    this.#flush();
  };

  /** One that fails must not take the rest of its batch with it. */
  #take(message: unknown): void {
    try {
      this.#received(message);
    } catch (error) {
      reportError(error);
    }
  }

  #tell(type: Greeting['type']): void {
    if (this.#key !== null) window.parent.postMessage({ type, key: this.#key } satisfies Greeting, '*');
  }

  #flush(): void {
    this.#scheduled = false;
    if (!this.#queue.length || !this.#port) return;
    const [batch, transfer] = [this.#queue, this.#transfer];
    this.#queue = [];
    this.#transfer = [];
    try {
      this.#port.postMessage(batch, transfer);
    } catch {
      // One message that cannot be cloned stops them all: alone, it stops only itself.
      for (const message of batch) this.#postAlone(message);
    }
  }

  #postAlone(message: Outgoing): void {
    try {
      this.#port?.postMessage([message], []);
    } catch (error) {
      console.warn(`A message of type ${message.type} could not be sent.`, error);
      if ('requestId' in message) this.#port?.postMessage([refusal(message, error)], []);
    }
  }
}

/** A request still gets its one answer. */
function refusal({ type, requestId }: PortResponse, error: unknown): PortResponse {
  return { type, requestId, error: `The result cannot be sent as JSON: ${error}`, code: 'RESULT_NOT_JSON' };
}
