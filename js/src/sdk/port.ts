/** Owns the port to the page: the handshake with the outer frame, and one batch of messages per tick. */

import type { FromSdk, Greeting } from '../frame/messages.js';
import type { PortNotice, PortResponse } from '../protocol.gen.js';

/** What may wait for the port; beyond it the oldest is dropped. */
const LIMIT = 1000;

type Outgoing = PortResponse | PortNotice | FromSdk;

export class Port {
  #port: MessagePort | null = null;
  #queue: Outgoing[] = [];
  #scheduled = false;

  #received: (message: unknown) => void = () => {};

  /** Asks for the port. `received` gets each message of the page. */
  connect(key: string, received: (message: unknown) => void): void {
    this.#received = received;
    this.listen();
    const tell = (type: Greeting['type']): void => window.parent.postMessage({ type, key } satisfies Greeting, '*');
    window.addEventListener('pagehide', () => tell('applet:leaving'));
    tell('applet:hello');
  }

  /** Again after the applet's script ran: `document.write` in it takes away every listener of the window. */
  listen(): void {
    if (!this.#port) window.addEventListener('message', this.#onMessage);
  }

  send(message: Outgoing): void {
    this.#queue.push(message);
    if (!this.#port) {
      if (this.#queue.length > LIMIT) this.#queue.shift();
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

  #flush(): void {
    this.#scheduled = false;
    if (!this.#queue.length) return;
    const batch = this.#queue;
    this.#queue = [];
    try {
      this.#port?.postMessage(batch);
    } catch {
      // One message that cannot be cloned stops them all: alone, it stops only itself.
      for (const message of batch) this.#postAlone(message);
    }
  }

  #postAlone(message: Outgoing): void {
    try {
      this.#port?.postMessage([message]);
    } catch (error) {
      console.warn(`A message of type ${message.type} could not be sent.`, error);
      if ('requestId' in message) this.#port?.postMessage([refusal(message, error)]);
    }
  }
}

/** A request still gets its one answer. */
function refusal({ type, requestId }: PortResponse, error: unknown): PortResponse {
  return { type, requestId, error: `The result cannot be sent as JSON: ${error}`, code: 'RESULT_NOT_JSON' };
}
