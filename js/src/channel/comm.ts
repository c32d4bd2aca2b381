/**
 * A pipe over a widget's comm, for pages that cannot reach our server extension.
 * A comm may drop messages, so frames are numbered: a gap is told to the kernel, which sends again from there.
 * It has no end that the kernel could see either, so a page that goes away says so, and answers when it is asked.
 */

import type { Encoded, Pipe, PipeEvents } from './pipe.js';

/** The part of a widget's model that carries custom messages. */
export interface CommModel {
  on(event: 'msg:custom', callback: (content: unknown) => void): void;
  off(event: 'msg:custom', callback: (content: unknown) => void): void;
  send(content: unknown): void;
}

export class CommPipe implements Pipe {
  /** A kernel that runs a cell may not answer before the cell ends. */
  readonly patience = 500;
  #events: PipeEvents | null = null;
  #sent = 0;
  #seen = 0;
  /** The frame at which the gap was last told. */
  #nackedAt = 0;

  constructor(
    private readonly model: CommModel,
    private readonly page: string,
  ) {}

  start(events: PipeEvents): void {
    this.#events = events;
    this.model.on('msg:custom', this.#onMessage);
    window.addEventListener('pagehide', this.#onHide);
    window.addEventListener('pageshow', this.#onShow);
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
    window.removeEventListener('pagehide', this.#onHide);
    window.removeEventListener('pageshow', this.#onShow);
  }

  /** Both counts start anew with each hello. */
  #begin(): void {
    this.#sent = this.#seen = this.#nackedAt = 0;
    this.#events?.opened();
  }

  readonly #onHide = (): void => this.#events?.leaving();

  /** The browser had kept the page as it was; to the kernel it is gone. */
  readonly #onShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) this.#begin();
  };

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
      this.#nackedAt = 0;
      this.#events?.received(messages);
    } else if (seq > expected && seq > this.#nackedAt) {
      // Told again with each newer frame: what is sent again can be lost again.
      this.#nackedAt = seq;
      this.model.send({ kind: 'nack', page: this.page, expected });
    }
  }
}
