/**
 * The words on the port between the SDK's agent half and the page's: an applet's way to the agent and its sessions.
 * Each thing under way has a number, which the SDK gives; `end` is always the last that is said of it.
 */

import type { InvokeOptions } from '../protocol.gen.js';

/** SDK → page: call the agent. Answered by pieces, then the end with its value. */
export interface InvokeWord {
  type: 'invoke';
  id: number;
  prompt: string;
  options: InvokeOptions;
  imageData?: string;
}

/** SDK → page: ask the server. Answered by a head, then, one for each `more`, chunks, then the end. */
export interface RequestWord {
  type: 'request';
  id: number;
  method: string;
  /** From `/api/` on, with its query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** SDK → page: what came was taken, and there is room for the next. */
export interface MoreWord {
  type: 'more';
  id: number;
}

/** SDK → page: nobody waits for it any more. What is the agent's is to stop. */
export interface CancelWord {
  type: 'cancel';
  id: number;
}

/** Page → SDK: more of the answer. */
export interface DeltaWord {
  type: 'delta';
  id: number;
  delta: string;
}

/** Page → SDK: what the call waits for, or that it has begun. */
export interface StatusWord {
  type: 'status';
  id: number;
  status: string;
  message: string;
}

/** Page → SDK: a response has begun. */
export interface HeadWord {
  type: 'head';
  id: number;
  status: number;
  statusText: string;
  headers: Record<string, string>;
}

export interface ChunkWord {
  type: 'chunk';
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface EndWord {
  type: 'end';
  id: number;
  value?: unknown;
  error?: string;
  code?: string;
}

export type FromAgentSdk = InvokeWord | RequestWord | MoreWord | CancelWord;
export type ToAgentSdk = DeltaWord | StatusWord | HeadWord | ChunkWord | EndWord;
