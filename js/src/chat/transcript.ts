/**
 * Owns what a chat knows of its session: the turns, in order, from pages of history and from what happens live.
 * A page is the truth for what it covers; a live event adds to that, and may come twice.
 */

import type { Output, ToolCall } from '../protocol.gen.js';
import { countOr, fieldsOf, type Page, readCall, readOutput, readSource, textOr } from './guards.js';
import { countPoints, skipPoints } from './points.js';

export interface Prompt {
  readonly source: 'user' | 'applet' | 'agent';
  /** Of an applet or another agent: its name. */
  readonly slug: string | null;
  readonly text: string;
  readonly timestamp: string;
  readonly image: string | null;
}

export interface Answer {
  readonly text: string;
  /** In code points, as the host counts. */
  readonly length: number;
  readonly status: 'done' | 'queued' | 'running';
  /** What it waits for, in words. */
  readonly note: string;
  readonly error: string | null;
  readonly calls: readonly ToolCall[];
  readonly outputs: readonly Output[];
}

/** One prompt and its answer. Never changed, only replaced: what is the same object need not be rendered again. */
export interface Turn {
  readonly streamId: string;
  readonly index: number;
  readonly prompt: Prompt | null;
  readonly answer: Answer | null;
}

/** What an event did: nothing, something to be shown, or it showed that something was missed. */
export type Heard = 'nothing' | 'change' | 'gap';

const PENDING: Answer = { text: '', length: 0, status: 'running', note: '', error: null, calls: [], outputs: [] };

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

export class Transcript {
  turns: readonly Turn[] = [];
  /** Where what is known begins; null before the first page, 0 when nothing is before. */
  start: number | null = null;
  agent: string | null = null;
  /** The turns under way, the oldest first. */
  readonly active = new Set<string>();

  turn(streamId: string): Turn | undefined {
    return this.turns[this.#find(streamId)];
  }

  /** What a person said here, the oldest first. */
  ownPrompts(): string[] {
    return this.turns.flatMap(({ prompt }) => (prompt?.source === 'user' && prompt.text ? [prompt.text] : []));
  }

  /** The newest page. What is older stays if nothing can be missing between the two. */
  open(page: Page): void {
    const overlaps = this.turns.some(({ index }) => index >= page.start);
    const older = overlaps ? this.turns.filter(({ index }) => index < page.start) : [];
    this.start = overlaps && this.start !== null ? Math.min(this.start, page.start) : page.start;
    this.agent = page.agent;
    this.#set([...older, ...this.#turnsOf(page)]);
  }

  /** The page before those that are known. */
  prepend(page: Page): void {
    if (this.start === null || page.start >= this.start) return;
    const older = this.#turnsOf(page);
    const told = new Set(older.map(({ streamId }) => streamId));
    this.start = page.start;
    this.#set([...older, ...this.turns.filter(({ streamId }) => !told.has(streamId))]);
  }

  hear(message: unknown): Heard {
    const fields = fieldsOf(message);
    const { type } = fields;
    if (type === 'agentStatus') {
      const agent = textOr(fields['agent'], null);
      const heard = agent === this.agent ? 'nothing' : 'change';
      this.agent = agent;
      return heard;
    }
    const streamId = fields['streamId'];
    if (typeof streamId !== 'string') return 'nothing';
    if (type === 'messageStarted') return this.#started(streamId, fields);
    const at = this.#find(streamId);
    const turn = this.turns[at];
    // Of a turn that is hidden, or long past.
    if (!turn) return 'nothing';
    const before = turn.answer ?? PENDING;
    const after = this.#answered(before, type, fields);
    if (after === 'gap') return 'gap';
    if (after === before) return 'nothing';
    this.#replace(at, { ...turn, answer: after });
    const length = countOr(fields['length'], null);
    return type === 'messageDone' && length !== null && length !== after.length ? 'gap' : 'change';
  }

  #started(streamId: string, fields: Record<string, unknown>): Heard {
    const { showInChat, prompt } = fields;
    const index = countOr(fields['index'], null);
    if (showInChat !== true || typeof prompt !== 'string' || index === null) return 'nothing';
    const asked: Prompt = {
      source: readSource(fields['source']),
      slug: textOr(fields['appletSlug'], null),
      text: prompt,
      timestamp: textOr(fields['timestamp'], ''),
      image: textOr(fields['image'], null),
    };
    const known = this.turn(streamId);
    // A host that took the turn over from another one announces it again: what was said stays.
    const answer: Answer = { ...(known?.answer ?? PENDING), status: 'running', note: '', error: null };
    const turn: Turn = { streamId, index, prompt: asked, answer };
    if (known && same(known, turn)) return 'nothing';
    this.#set([...this.turns.filter((other) => other.streamId !== streamId), turn]);
    return 'change';
  }

  #answered(answer: Answer, type: unknown, fields: Record<string, unknown>): Answer | 'gap' {
    switch (type) {
      case 'stream':
        return grown(answer, fields);
      case 'messageStatus': {
        const status = fields['status'];
        if (answer.status === 'done' || (status !== 'queued' && status !== 'running')) return answer;
        return { ...answer, status, note: textOr(fields['message'], '') };
      }
      case 'toolCall': {
        const call = readCall(fields['call']);
        if (!call) return answer;
        const isKnown = answer.calls.some(({ id }) => id === call.id);
        const calls = isKnown ? answer.calls.map((other) => (other.id === call.id ? call : other)) : [...answer.calls, call];
        return { ...answer, calls };
      }
      case 'messageOutput': {
        const output = readOutput(fields['output']);
        if (!output || answer.outputs.some(({ name }) => name === output.name)) return answer;
        return { ...answer, outputs: [...answer.outputs, output] };
      }
      case 'messageDone':
        return { ...answer, status: 'done', note: '', error: textOr(fields['error'], null) };
      default:
        return answer;
    }
  }

  #turnsOf({ messages }: Page): Turn[] {
    const turns = new Map<string, Turn>();
    for (const { role, streamId, index, source, appletSlug, content, timestamp, image, status, error, toolCalls, outputs, hidden } of messages) {
      if (hidden) continue;
      const known = turns.get(streamId) ?? { streamId, index, prompt: null, answer: null };
      if (role === 'user') {
        const prompt: Prompt = { source: source as Prompt['source'], slug: appletSlug, text: content, timestamp, image };
        turns.set(streamId, { ...known, index, prompt });
      } else {
        const isDone = status === 'done';
        // Before the end, the error's place says what the answer waits for.
        const answer: Answer = {
          ...{ text: content, length: countPoints(content), status, calls: toolCalls, outputs },
          ...{ note: isDone ? '' : (error ?? ''), error: isDone ? error : null },
        };
        turns.set(streamId, { ...known, answer });
      }
    }
    const before = new Map(this.turns.map((turn) => [turn.streamId, turn]));
    return [...turns.values()].map((turn) => {
      const known = before.get(turn.streamId);
      return known && same(known, turn) ? known : turn;
    });
  }

  #find(streamId: string): number {
    // What is spoken of is nearly always among the last.
    for (let i = this.turns.length - 1; i >= 0; i -= 1) if (this.turns[i]?.streamId === streamId) return i;
    return -1;
  }

  #replace(at: number, turn: Turn): void {
    const turns = this.turns.slice();
    turns[at] = turn;
    this.turns = turns;
    if (turn.answer?.status === 'done') this.active.delete(turn.streamId);
  }

  #set(turns: Turn[]): void {
    this.turns = turns.sort((a, b) => a.index - b.index);
    this.active.clear();
    for (const { streamId, answer } of this.turns) if (answer && answer.status !== 'done') this.active.add(streamId);
  }
}

function grown(answer: Answer, fields: Record<string, unknown>): Answer | 'gap' {
  const { delta } = fields;
  if (typeof delta !== 'string') return answer;
  const at = countOr(fields['at'], answer.length);
  if (at > answer.length) return 'gap';
  const fresh = skipPoints(delta, answer.length - at);
  if (!fresh) return answer;
  const running = answer.status === 'queued' ? { status: 'running' as const, note: '' } : {};
  return { ...answer, ...running, text: answer.text + fresh, length: answer.length + countPoints(fresh) };
}
