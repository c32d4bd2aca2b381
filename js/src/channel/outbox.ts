/** Owns what a page has to say and has not said: encoded one by one, measured, cut into frames, kept while the pipe is down. */

import { type FromPage, MAX_MESSAGE_BYTES, type SetState } from '../protocol.gen.js';
import type { Encoded } from './pipe.js';

/** Beyond this the oldest is dropped. */
const KEPT = 1000;

/** What a hello after a cut does not say again. */
const KEPT_TYPES = new Set<FromPage['type']>(['APP_PROTOCOL_RESPONSE', 'interaction', 'console', 'snapshot', 'setState']);

export class Outbox {
  maxBytes = MAX_MESSAGE_BYTES;
  #queue: FromPage[] = [];

  /** `refused` is told of a question that cannot be sent; false when nobody waits for its answer. */
  constructor(private readonly refused: (id: string, code: string, message: string) => boolean = () => false) {}

  add(messages: readonly FromPage[]): void {
    for (const message of messages) this.#queue.push(message);
  }

  /** The same while nothing can be sent: only what would otherwise be lost, of snapshots the newest, of state what it comes to. */
  keep(messages: readonly FromPage[]): void {
    for (const message of messages) {
      if (!KEPT_TYPES.has(message.type)) continue;
      const kept = this.#replace(message);
      this.#queue.push(kept);
    }
    if (this.#queue.length > KEPT) this.#queue.splice(0, this.#queue.length - KEPT);
  }

  /** The message that stands for it and for the older ones of its kind and view, which go. */
  #replace(message: FromPage): FromPage {
    if (message.type !== 'snapshot' && message.type !== 'setState') return message;
    const isOlder = (older: FromPage): boolean =>
      older.type === message.type && older.viewId === message.viewId && revisionOf(older) === revisionOf(message);
    const older = this.#queue.filter(isOlder);
    if (older.length) this.#queue = this.#queue.filter((other) => !isOlder(other));
    if (message.type === 'snapshot') return message;
    return { ...message, data: Object.assign({}, ...older.map((state) => (state as SetState).data), message.data) };
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
    const what = message.type === 'APP_PROTOCOL_RESPONSE' ? 'result' : 'message';
    const limit = `the limit is ${megabytes(this.maxBytes)} (JupyterApplets.max_message_bytes)`;
    return this.#refuse(message, 'TOO_LARGE', `The ${what} is ${megabytes(bytes)} as JSON; ${limit}.`);
  }

  /** A request still gets its one answer, in either direction. */
  #refuse(message: FromPage, code: string, error: string): Encoded | null {
    if (message.type !== 'APP_PROTOCOL_RESPONSE') {
      if ('id' in message && message.id && this.refused(message.id, code, error)) return null;
      console.warn(`jupyter_applets: a message of type ${message.type} was not sent. ${error}`);
      return null;
    }
    const { kind } = message.response;
    const empty = { manifest: { manifest: null }, query: { data: null }, command: { result: null }, hydrate: {}, dom: { data: null } }[kind];
    const refused = { ...message, response: { kind, ...empty, error, code } };
    return { message: refused, text: JSON.stringify(refused) };
  }
}

/** Another applet's state is not to be mixed in. */
const revisionOf = (message: object): unknown => ('revision' in message ? message.revision : null);

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Exact for long texts, where it matters; for short ones a bound that costs nothing. */
const bytesAtMost = (text: string): number => (text.length < 100_000 ? text.length * 3 : byteLength(text));

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
