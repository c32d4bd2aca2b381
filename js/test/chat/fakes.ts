/** A channel that answers a chat as a host would, with what a test puts into it. */

import type { ChannelChat } from '../../src/channel/channel.js';
import { Session } from '../../src/chat/session.js';

export const message = (index: number, more: Record<string, unknown> = {}) => ({
  index,
  role: index % 2 ? 'assistant' : 'user',
  source: index % 2 ? 'assistant' : 'user',
  content: `message ${index}`,
  timestamp: '2026-01-02T03:04:05Z',
  streamId: `t${index >> 1}`,
  ...more,
});

export const started = (number: number, more: Record<string, unknown> = {}) => ({
  type: 'messageStarted',
  prompt: `message ${2 * number}`,
  source: 'user',
  streamId: `t${number}`,
  showInChat: true,
  appletSlug: null,
  sessionId: 's',
  timestamp: '2026-01-02T03:04:05Z',
  index: 2 * number,
  ...more,
});

export const delta = (number: number, text: string, at: number) => ({ type: 'stream', streamId: `t${number}`, delta: text, at });
export const done = (number: number, more: Record<string, unknown> = {}) => ({ type: 'messageDone', streamId: `t${number}`, ...more });

export interface Question {
  type: string;
  [name: string]: unknown;
}

export class FakeChannel {
  readonly chats = new Set<ChannelChat>();
  readonly asked: Question[] = [];
  messages: ReturnType<typeof message>[] = [];
  agent: string | null = 'analyst';
  outputs: Record<string, { mime: string; data: string }> = {};
  /** What a question of a type fails with. */
  readonly failures = new Map<string, { code: string; message: string }>();
  /** Replies wait until it is called. */
  release: (() => void) | null = null;
  #held: Promise<void> | null = null;

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.release = () => {
        this.#held = null;
        resolve();
      };
    });
  }

  join(chat: ChannelChat): void {
    this.chats.add(chat);
    chat.connected();
  }

  leave(chat: ChannelChat): void {
    this.chats.delete(chat);
  }

  say(...messages: { type: string }[]): void {
    for (const chat of this.chats) for (const message of messages) chat.hear(message);
  }

  async ask(question: Question): Promise<unknown[]> {
    this.asked.push(question);
    const failure = this.failures.get(question.type);
    if (failure) throw Object.assign(new Error(failure.message), { code: failure.code });
    const value = this.#answer(question);
    await this.#held;
    return [{ type: 'result', id: 'p1', value }];
  }

  #answer({ type, before, limit, name }: Question): unknown {
    if (type === 'readOutput') return { name, ...this.outputs[name as string] };
    if (type !== 'openChat') return { sessionId: 's', streamId: 'new' };
    const older = this.messages.filter(({ index }) => index < ((before as number | undefined) ?? Infinity));
    const messages = older.slice(-(limit as number));
    return structuredClone({ sessionId: 's', messages, start: messages.length < older.length ? messages[0]?.index : 0, agent: this.agent });
  }
}

export function makeSession(channel: FakeChannel, fallBack = channel, name = 's'): Session {
  return new Session({ name, channel: () => channel, fallBack: () => fallBack } as unknown as ConstructorParameters<typeof Session>[0]);
}

/** Until nothing waits any more. */
export const settled = async (): Promise<void> => {
  for (let i = 0; i < 30; i += 1) await Promise.resolve();
};
