/** Owns what a page has to say and has not said: encoded one by one, measured, cut into frames, kept while the pipe is down. */

import { type FromPage, MAX_MESSAGE_BYTES } from '../protocol.gen.js';
import type { Encoded } from './pipe.js';

/** Beyond this the oldest is dropped. */
const KEPT = 1000;

/** What a hello after a cut does not say again. */
const KEPT_TYPES = new Set<FromPage['type']>(['APP_PROTOCOL_RESPONSE', 'interaction', 'console', 'snapshot']);

export class Outbox {
  maxBytes = MAX_MESSAGE_BYTES;
  #queue: FromPage[] = [];

  add(messages: readonly FromPage[]): void {
    for (const message of messages) this.#queue.push(message);
  }

  /** The same while nothing can be sent: only what would otherwise be lost, and of snapshots the newest. */
  keep(messages: readonly FromPage[]): void {
    for (const message of messages) {
      if (!KEPT_TYPES.has(message.type)) continue;
      if (message.type === 'snapshot') {
        this.#queue = this.#queue.filter((older) => older.type !== 'snapshot' || older.viewId !== message.viewId);
      }
      this.#queue.push(message);
    }
    if (this.#queue.length > KEPT) this.#queue.splice(0, this.#queue.length - KEPT);
  }

  /** The pipe went down with these unsent. */
  retain(): void {
    const queue = this.#queue;
    this.#queue = [];
    this.keep(queue);
  }

  /** Everything, as it is, for another outbox. */
  handOver(): FromPage[] {
    return this.#queue.splice(0);
  }

  /** Everything, in frames of which none is over the limit. */
  take(): Encoded[][] {
    const queue = this.#queue;
    this.#queue = [];
    const frames: Encoded[][] = [];
    let room = 0;
    for (const message of queue) {
      const encoded = this.#encode(message);
      if (!encoded) continue;
      const size = bytesAtMost(encoded.text) + 1;
      if (size > room) {
        frames.push([]);
        room = this.maxBytes - 2;
      }
      room -= size;
      frames.at(-1)?.push(encoded);
    }
    return frames;
  }

  #encode(message: FromPage): Encoded | null {
    let text: string;
    try {
      text = JSON.stringify(message);
    } catch (error) {
      return this.#refuse(message, 'RESULT_NOT_JSON', `The result cannot be sent as JSON: ${error}`);
    }
    if (text.length * 3 <= this.maxBytes) return { message, text };
    const bytes = byteLength(text);
    if (bytes <= this.maxBytes) return { message, text };
    const limit = `the limit is ${megabytes(this.maxBytes)} (JupyterApplets.max_message_bytes)`;
    return this.#refuse(message, 'TOO_LARGE', `The result is ${megabytes(bytes)} as JSON; ${limit}.`);
  }

  /** A request still gets its one answer. */
  #refuse(message: FromPage, code: string, error: string): Encoded | null {
    if (message.type !== 'APP_PROTOCOL_RESPONSE') {
      console.warn(`jupyter_applets: a message of type ${message.type} was not sent. ${error}`);
      return null;
    }
    const { kind } = message.response;
    const empty = { manifest: { manifest: null }, query: { data: null }, command: { result: null }, hydrate: {} }[kind];
    const refused = { ...message, response: { kind, ...empty, error, code } };
    return { message: refused, text: JSON.stringify(refused) };
  }
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Exact for long texts, where it matters; for short ones a bound that costs nothing. */
const bytesAtMost = (text: string): number => (text.length < 100_000 ? text.length * 3 : byteLength(text));

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
