/** Owns what a page has asked of its host and awaits: each has an id, and one answer, or an error when the pipe goes. */

import type { ErrorReply, FileContent, FileList, FileWritten, FromPage, InvokeComplete, MessageStatus, Result, StreamDelta } from '../protocol.gen.js';

/** What has an `id`, with or without it: what has none is given one here. */
export type Askable = Extract<FromPage, { id?: string | null }> extends infer Message
  ? Message extends { type: 'hello' }
    ? never
    : Message
  : never;

export type Reply = Result | FileContent | FileWritten | FileList | InvokeComplete;

/** What comes before the reply to an `invoke`. */
export type Piece = StreamDelta | MessageStatus;

/** An error with the wire's code. From any copy of this module: told by its code, not by its class. */
export class AskError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'INTERNAL_ERROR';
};

interface Pending {
  /** What came so far: one message, or the pieces of a file. */
  replies: Reply[];
  resolve(replies: Reply[]): void;
  reject(error: AskError): void;
  heard: ((piece: Piece) => void) | undefined;
}

export class Asked {
  readonly #pending = new Map<string, Pending>();
  #count = 0;

  /** The message to send, with its id, and the promise of what it brings. */
  add(message: Askable, heard?: (piece: Piece) => void): { message: Askable & { id: string }; replies: Promise<Reply[]> } {
    const id = message.id ?? `p${(this.#count += 1)}`;
    const replies = new Promise<Reply[]>((resolve, reject) => this.#pending.set(id, { replies: [], resolve, reject, heard }));
    return { message: { ...message, id }, replies };
  }

  /** Late answers, and those to a plain client's questions, have nobody who waits. */
  settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id ?? '');
    if (!pending) return;
    pending.replies.push(reply);
    if (reply.type === 'fileContent' && !reply.done) return;
    this.#pending.delete(reply.id ?? '');
    pending.resolve(pending.replies);
  }

  hear(piece: Piece): void {
    this.#pending.get(piece.id ?? '')?.heard?.(piece);
  }

  /** Whether anybody waited for it. */
  fail({ id, code, message }: Pick<ErrorReply, 'id' | 'code' | 'message'>): boolean {
    const pending = this.#pending.get(id ?? '');
    this.#pending.delete(id ?? '');
    pending?.reject(new AskError(code, message));
    return pending !== undefined;
  }

  failAll(code: string, message: string): void {
    for (const id of [...this.#pending.keys()]) this.fail({ id, code, message });
  }
}
