/**
 * Owns a window's state as one view has it: what the host told, with what the applet has set since.
 * It carries both ways, one update at a time towards the applet: the host sends the next when this one was seen.
 */

import { codeOf } from './channel/asked.js';
import type { StatePushed } from './frame/messages.js';
import type { FromPage, Json, SetState, StateUpdate } from './protocol.gen.js';

type Data = Record<string, Json>;

/** The number of a change that was on its way when the pipe went. */
const LOST = 0;

export interface StateEvents {
  /** False when there is no document. */
  post(message: StatePushed): boolean;
  send(messages: FromPage[]): void;
  /** Resolves when the host has taken it; rejects when it may not have. */
  ask(message: SetState): Promise<unknown>;
}

export class State {
  #data: Data = {};
  #rev = 0;
  /** The host's update that the applet has yet to take. */
  #unseen: number | null = null;
  /** What a document that starts, made when it was loaded, does not know. */
  #sinceLoad: Data = {};
  /** What the applet set and the host has not acknowledged, by key the number of the change: the host's word is older. */
  readonly #unheard = new Map<string, number>();
  #changes = 0;
  /** Of the content that made the last change. */
  #revision = 0;

  constructor(
    private readonly viewId: string,
    private readonly windowId: string,
    private readonly events: StateEvents,
  ) {}

  /** Null when there is none. */
  get data(): Data | null {
    return Object.keys(this.#data).length ? this.#data : null;
  }

  /** A document is made with the state of now. */
  loaded(): void {
    this.#sinceLoad = {};
  }

  /** A document has started: the one just made, or, after a reload of its own, the same again. */
  started(): void {
    if (Object.keys(this.#sinceLoad).length) this.#post(this.#sinceLoad);
  }

  /** No document takes updates now; the next one is made with them. */
  ended(): void {
    if (this.#unseen !== null) this.seen(this.#unseen);
  }

  /** The applet of that revision changed these keys. */
  set(data: Data, revision: number): void {
    this.#revision = revision;
    this.#merge(data);
    this.#tell(Object.keys(data));
  }

  /** The host pushes these keys. */
  update({ data, rev = 0 }: StateUpdate): void {
    this.#merge(data);
    this.#rev = this.#unseen = rev;
    if (!this.#post(data)) this.seen(rev);
  }

  /** The applet has taken the update of that number. */
  seen(rev: number): void {
    if (this.#unseen === null || rev < this.#unseen) return;
    const { windowId, viewId } = this;
    // 0 is the number of no change at all.
    if (this.#unseen) this.events.send([{ type: 'stateSeen', windowId, viewId, rev: this.#unseen }]);
    this.#unseen = null;
  }

  /** What the host holds, in answer to the view's announcement: the applet's own changes since then are newer. */
  answered(data: Data, rev: number): void {
    const isOther = ([key, value]: [string, Json]): boolean =>
      !this.#unheard.has(key) && JSON.stringify(value) !== JSON.stringify(this.#data[key]);
    const changed = Object.fromEntries(Object.entries(data).filter(isOther));
    this.#rev = this.#unseen = rev;
    this.#merge(changed);
    if (!Object.keys(changed).length || !this.#post(changed)) this.seen(rev);
    const lost = this.#of(LOST);
    if (lost.length) this.#tell(lost);
  }

  /** Another applet took the window, with a state of its own. */
  replace(data: Data, rev: number): void {
    this.#data = data;
    this.#rev = this.#unseen = rev;
    this.#unheard.clear();
    this.seen(rev);
  }

  #tell(keys: string[]): void {
    const change = (this.#changes += 1);
    for (const key of keys) this.#unheard.set(key, change);
    this.events.ask(this.#message(keys)).then(
      () => this.#heard(change),
      // While the pipe is down it is kept there; when the host has answered the next hello, it is told again.
      (error: unknown) => (codeOf(error) === 'LINK_LOST' ? this.#keep(change) : this.#heard(change)),
    );
  }

  #heard(change: number): void {
    for (const key of this.#of(change)) this.#unheard.delete(key);
  }

  #keep(change: number): void {
    const keys = this.#of(change);
    for (const key of keys) this.#unheard.set(key, LOST);
    if (keys.length) this.events.send([this.#message(keys)]);
  }

  #of(change: number): string[] {
    return [...this.#unheard].filter(([, last]) => last === change).map(([key]) => key);
  }

  #message(keys: string[]): SetState {
    const { windowId, viewId } = this;
    const data = Object.fromEntries(keys.map((key) => [key, this.#data[key]]));
    return { type: 'setState', windowId, viewId, data, revision: this.#revision };
  }

  #merge(data: Data): void {
    // Defined, not assigned: a key may be named `__proto__`.
    this.#data = { ...this.#data, ...data };
    this.#sinceLoad = { ...this.#sinceLoad, ...data };
  }

  #post(data: Data): boolean {
    return this.events.post({ type: 'applet:state', data, rev: this.#rev });
  }
}
