/** Owns the port to the page: the handshake with the outer frame, and one batch of messages per tick. */

import type { FromSdk, Greeting } from '../frame/messages.js';
import type { PortNotice, PortResponse } from '../protocol.gen.js';

/** What may wait for the port; beyond it the oldest is dropped. */
const LIMIT = 1000;

export class Port {
  #port: MessagePort | null = null;
  #queue: unknown[] = [];
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

  send(message: PortResponse | PortNotice | FromSdk): void {
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
      for (const message of Array.isArray(data) ? data : [data]) this.#received(message);
    };
    this.#port = port;
    this.#flush();
  };

  #flush(): void {
    this.#scheduled = false;
    if (!this.#queue.length) return;
    const batch = this.#queue;
    this.#queue = [];
    this.#port?.postMessage(batch);
  }
}
