/** A pipe over a WebSocket. It reconnects by itself, and finds out when a sleeping laptop has lost the connection. */

import { decodeText, unpack } from './frames.js';
import type { Encoded, Pipe, PipeEvents } from './pipe.js';

/** A server that is being restarted, or a proxy that was too early, fails once. */
const FIRST_ATTEMPTS = 2;
const MIN_DELAY = 250;
const MAX_DELAY = 10_000;
/** Silence after which a page that is looked at again asks whether anybody is there, and how long it waits for a word. */
const QUIET = 45_000;
const PROBE_WAIT = 5_000;

export class SocketPipe implements Pipe {
  readonly patience = null;
  #events: PipeEvents | null = null;
  #socket: WebSocket | null = null;
  #everOpened = false;
  #failures = 0;
  #heardAt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #probe: ReturnType<typeof setTimeout> | undefined;
  #warned = false;

  constructor(private readonly url: string) {}

  start(events: PipeEvents): void {
    this.#events = events;
    window.addEventListener('online', this.#onOnline);
    document.addEventListener('visibilitychange', this.#onVisible);
    this.#connect();
  }

  send(batch: Encoded[]): void {
    this.#socket?.send(`[${batch.map(({ text }) => text).join(',')}]`);
  }

  stop(): void {
    this.#events = null;
    window.removeEventListener('online', this.#onOnline);
    document.removeEventListener('visibilitychange', this.#onVisible);
    clearTimeout(this.#retry);
    clearTimeout(this.#probe);
    this.#socket?.close();
    this.#socket = null;
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.url);
    } catch {
      // An https page may not even try a ws: address.
      queueMicrotask(() => this.#onClose());
      return;
    }
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.onopen = () => {
      this.#everOpened = true;
      this.#failures = 0;
      this.#heardAt = Date.now();
      this.#events?.opened();
    };
    socket.onmessage = ({ data }) => this.#onFrame(data);
    socket.onclose = () => {
      if (this.#socket === socket) this.#onClose();
    };
  }

  #onFrame(data: string | ArrayBuffer): void {
    this.#heardAt = Date.now();
    clearTimeout(this.#probe);
    let messages: unknown[];
    try {
      messages = typeof data === 'string' ? decodeText(data) : unpack(data).messages;
    } catch (error) {
      if (!this.#warned) console.warn('jupyter_applets: a broken frame was dropped.', error);
      this.#warned = true;
      return;
    }
    this.#events?.received(messages);
  }

  #onClose(): void {
    this.#socket = null;
    clearTimeout(this.#probe);
    // Full jitter, so that the pages of a restarted server do not all come back at once.
    const delay = MIN_DELAY + Math.random() * Math.min(MAX_DELAY - MIN_DELAY, MIN_DELAY * 2 ** this.#failures);
    this.#failures += 1;
    if (this.#everOpened) this.#events?.lost();
    else if (this.#failures === FIRST_ATTEMPTS) return this.#events?.unreachable();
    if (this.#events) this.#retry = setTimeout(() => this.#connect(), delay);
  }

  readonly #onOnline = (): void => {
    if (this.#retry !== undefined) this.#connect();
  };

  readonly #onVisible = (): void => {
    if (document.visibilityState !== 'visible') return;
    this.#onOnline();
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN || Date.now() - this.#heardAt < QUIET) return;
    this.#events?.opened();
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => {
      // A dead connection may take minutes to close, so its end is not waited for.
      socket.onclose = null;
      socket.close();
      if (this.#socket === socket) this.#onClose();
    }, PROBE_WAIT);
  };
}
