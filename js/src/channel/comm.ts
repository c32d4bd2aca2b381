/**
 * A pipe over a widget's comm, for pages that cannot reach our server extension.
 * A comm may drop messages, so frames are numbered: a gap is told to the kernel, which sends again from there.
 */

import type { Encoded, Pipe, PipeEvents } from './pipe.js';

/** The part of a widget's model that carries custom messages. */
export interface CommModel {
  on(event: 'msg:custom', callback: (content: unknown) => void): void;
  off(event: 'msg:custom', callback: (content: unknown) => void): void;
  send(content: unknown): void;
}

export class CommPipe implements Pipe {
  #events: PipeEvents | null = null;
  #sent = 0;
  #seen = 0;
  #nacked = false;

  constructor(
    private readonly model: CommModel,
    private readonly page: string,
  ) {}

  start(events: PipeEvents): void {
    this.#events = events;
    this.model.on('msg:custom', this.#onMessage);
    this.#begin();
  }

  send(batch: Encoded[]): void {
    const messages = batch.map(({ message }) => message);
    this.#sent += 1;
    this.model.send({ kind: 'frame', page: this.page, seq: this.#sent, ack: this.#seen, messages });
  }

  stop(): void {
    this.#events = null;
    this.model.off('msg:custom', this.#onMessage);
  }

  /** Both counts start anew with each hello. */
  #begin(): void {
    this.#sent = this.#seen = 0;
    this.#nacked = false;
    this.#events?.opened();
  }

  readonly #onMessage = (content: unknown): void => {
    if (typeof content !== 'object' || content === null) return;
    const { kind, page, seq, messages } = content as Record<string, unknown>;
    if (page !== this.page) return;
    if (kind === 'reset') this.#begin();
    else if (kind === 'frame' && typeof seq === 'number' && Array.isArray(messages)) this.#onFrame(seq, messages);
  };

  #onFrame(seq: number, messages: unknown[]): void {
    const expected = this.#seen + 1;
    if (seq === expected) {
      this.#seen = seq;
      this.#nacked = false;
      this.#events?.received(messages);
    } else if (seq > expected && !this.#nacked) {
      this.#nacked = true;
      this.model.send({ kind: 'nack', page: this.page, expected });
    }
  }
}
