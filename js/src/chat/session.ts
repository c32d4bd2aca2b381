/**
 * Owns a chat's conversation with its host: opening, older pages, what a person sends and stops, and going on after a cut.
 * It shows nothing; whoever does is told when there is something new.
 */

import type { FromPage, OpenChat, ReadOutput, Result } from '../protocol.gen.js';
import type { ChannelChat } from '../channel/channel.js';
import { fieldsOf, type OutputData, readOutputData, readPage } from './guards.js';
import { type Prompt, Transcript } from './transcript.js';

const PAGE = 200;
/** As many are fetched unasked, so that scrolling up does not wait. */
const AHEAD = 1000;
/** A host that sends what does not fit is not asked again at once. */
const REOPEN_AFTER = 1000;
const MAX_KEPT_OUTPUTS = 60;

type Unnamed<M> = M extends { id: string } ? Omit<M, 'id'> : M;
type Question = Unnamed<OpenChat | ReadOutput> | Extract<FromPage, { type: 'sendMessage' | 'cancelMessage' }>;

/** A channel as a chat knows it. They may come from different copies of a module: plain calls only. */
export interface SessionChannel {
  join(chat: ChannelChat): void;
  leave(chat: ChannelChat): void;
  ask(question: Question): Promise<unknown[]>;
}

export interface SessionOptions {
  name: string;
  channel(): SessionChannel;
  /** Another channel, when there is no host behind the first. */
  fallBack(): SessionChannel;
}

export interface Notice {
  text: string;
  kind: 'status' | 'alert';
  retry?: () => void;
}

const codeOf = (error: unknown): unknown => fieldsOf(error)['code'];
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String((error as { message?: unknown })?.message ?? error));

export class Session implements ChannelChat {
  readonly name: string;
  readonly transcript = new Transcript();
  notice: Notice | null = null;
  loadingOlder = false;
  /** Called when something is to be shown anew. */
  changed: () => void = () => {};
  /** Something new that a screen reader should say. */
  announced: (text: string) => void = () => {};
  readonly #options: SessionOptions;
  #channel: SessionChannel;
  /** While a page is awaited, what is heard is kept: it may be newer than the page, which comes a moment later. */
  #waiting: { type: string }[] | null = null;
  #reopening: ReturnType<typeof setTimeout> | undefined;
  #openedAt = -REOPEN_AFTER;
  #disposed = false;
  readonly #outputs = new Map<string, Promise<OutputData>>();

  constructor(options: SessionOptions) {
    this.name = options.name;
    this.#options = options;
    this.#channel = options.channel();
  }

  /** Apart from the constructor: whoever shows the session wants to be told from the first. */
  start(): void {
    this.#channel.join(this);
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#reopening);
    this.#channel.leave(this);
  }

  // ---- what a person does

  /** Rejects with words for the person. Resolves when the host has it. */
  async send(prompt: string, imageData: string | null): Promise<void> {
    try {
      await this.#channel.ask({ type: 'sendMessage', prompt, ...(imageData === null ? {} : { imageData }) });
    } catch (error) {
      throw new Error(codeOf(error) === 'LINK_LOST' ? 'There is no connection right now. Send it again in a moment.' : wordsOf(error));
    }
  }

  /** Stop one answer, or the one that is being written, or the newest that waits. */
  async stop(streamId = this.underWay()): Promise<void> {
    if (streamId === null) return;
    try {
      await this.#channel.ask({ type: 'cancelMessage', streamId });
    } catch (error) {
      this.#say({ text: `It could not be stopped. ${wordsOf(error)}`, kind: 'alert' });
    }
  }

  underWay(): string | null {
    const active = [...this.transcript.active];
    return active.find((streamId) => this.transcript.turn(streamId)?.answer?.status === 'running') ?? active.at(-1) ?? null;
  }

  async loadOlder(): Promise<void> {
    const { start } = this.transcript;
    if (!start || this.loadingOlder || this.#disposed) return;
    this.loadingOlder = true;
    try {
      const page = await this.#page({ type: 'openChat', limit: PAGE, before: start });
      // After a reopening in the meantime it may belong to what is no more shown.
      if (this.transcript.start === start) this.transcript.prepend(page);
      // A page of hidden messages alone, or of none, brings nobody further.
      if (this.transcript.start === start) this.transcript.start = 0;
    } catch {
      // It is asked again when the person scrolls, or after the connection is back.
    } finally {
      this.loadingOlder = false;
      this.changed();
    }
  }

  readOutput(name: string): Promise<OutputData> {
    const kept = this.#outputs.get(name);
    if (kept) return kept;
    const reading = this.#channel.ask({ type: 'readOutput', name }).then(([reply]) => {
      const output = readOutputData((reply as Result | undefined)?.value);
      if (!output) throw new Error('The host sent something else.');
      return output;
    });
    this.#outputs.set(name, reading);
    reading.catch(() => this.#outputs.delete(name));
    const [oldest] = this.#outputs.keys();
    if (this.#outputs.size > MAX_KEPT_OUTPUTS && oldest !== undefined) this.#outputs.delete(oldest);
    return reading;
  }

  dismissNotice(): void {
    this.#say(null);
  }

  // ---- for the channel

  connected(): void {
    void this.#open();
  }

  hear(message: { type: string }): void {
    if (this.#waiting) this.#waiting.push(message);
    else if (this.transcript.start !== null) this.#take(message, true);
  }

  showRefusal(text: string): void {
    this.#say({ text, kind: 'alert' });
  }

  unreachable(): void {
    this.#channel = this.#options.fallBack();
    this.#channel.join(this);
  }

  // ---- inside

  async #page(question: Unnamed<OpenChat>): Promise<NonNullable<ReturnType<typeof readPage>>> {
    const [reply] = await this.#channel.ask(question);
    const page = readPage((reply as Result | undefined)?.value);
    if (!page) throw new Error('The host sent something else.');
    return page;
  }

  async #open(): Promise<void> {
    clearTimeout(this.#reopening);
    this.#reopening = undefined;
    this.#openedAt = performance.now();
    const waiting: { type: string }[] = [];
    this.#waiting = waiting;
    try {
      const page = await this.#page({ type: 'openChat', limit: PAGE });
      if (this.#waiting !== waiting || this.#disposed) return;
      this.#waiting = null;
      this.transcript.open(page);
      for (const message of waiting) this.#take(message, false);
      this.#say(null);
      void this.#loadAhead();
    } catch (error) {
      if (this.#waiting !== waiting || this.#disposed) return;
      this.#waiting = null;
      // After a cut the channel says when it is up again.
      if (codeOf(error) === 'LINK_LOST') this.#say({ text: 'Connecting…', kind: 'status' });
      else this.#say({ text: `The messages could not be read. ${wordsOf(error)}`, kind: 'alert', retry: () => void this.#open() });
    }
  }

  async #loadAhead(): Promise<void> {
    let before: number | null = null;
    while (this.transcript.start && this.transcript.start !== before && this.transcript.turns.length * 2 < AHEAD && !this.#disposed) {
      before = this.transcript.start;
      await this.loadOlder();
    }
  }

  #take(message: { type: string }, isLive: boolean): void {
    const { streamId } = message as { streamId?: string };
    const before = this.transcript.turn(streamId ?? '');
    const heard = this.transcript.hear(message);
    if (heard === 'nothing') return;
    if (heard === 'gap') this.#reopenSoon();
    const after = this.transcript.turn(streamId ?? '');
    if (isLive && after?.answer?.status === 'done' && before?.answer?.status !== 'done') this.#announceAnswer(after.answer);
    if (isLive && !before && after?.prompt && after.prompt.source !== 'user') this.#announcePrompt(after.prompt);
    this.changed();
  }

  #reopenSoon(): void {
    const wait = Math.max(0, this.#openedAt + REOPEN_AFTER - performance.now());
    this.#reopening ??= setTimeout(() => void this.#open(), wait);
  }

  #announceAnswer({ text, error }: { text: string; error: string | null }): void {
    // What failed is an alert where it stands.
    if (error === null) this.announced(`Agent said: ${text}`);
  }

  #announcePrompt({ slug, text }: Prompt): void {
    this.announced(`${slug ?? ''} said: ${text}`);
  }

  #say(notice: Notice | null): void {
    this.notice = notice;
    this.changed();
  }
}
