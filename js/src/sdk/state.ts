/**
 * Owns the applet's state: what `setAppletState` sends, and what `onStateUpdate` hears.
 * The state is JSON. Reserved keys hold what is kept with it, and are never shown to the applet.
 */

import type { StatePushed } from '../frame/messages.js';
import type { Json } from '../protocol.gen.js';
import { callAll, checkFunction, deepFreeze, jsonText } from './json.js';
import type { Port } from './port.js';

type Values = Record<string, Json>;
type Callback = (data: Values, state: Values) => unknown;

/** At most one message in so many milliseconds. A timer, because animation frames stop where nobody looks. */
const INTERVAL = 16;

export const STORAGE_KEY = '__storage';

export const isReserved = (key: string): boolean => key.startsWith(STORAGE_KEY) || key.startsWith('__snapshot');

export class AppState {
  readonly #texts = new Map<string, string>();
  readonly #values = new Map<string, Json>();
  /** What is to be sent, read when it is. */
  readonly #pending = new Map<string, () => Json>();
  readonly #callbacks = new Set<Callback>();
  readonly #reserved = new Map<string, (value: Json) => void>();
  #shown: Values | null = null;
  #hasNews: boolean;
  #isQueued = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly port: Port,
    initial: Values = {},
  ) {
    this.#merge(initial);
    this.#hasNews = this.#values.size > 0;
  }

  /** The state as it is now, as a value that does not change. */
  get current(): Values {
    return (this.#shown ??= Object.freeze(Object.fromEntries(this.#values)));
  }

  set(data: Values): void {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw new TypeError('setAppletState: give it an object of keys and values.');
    }
    const texts: [string, string][] = [];
    for (const [key, value] of Object.entries(data)) {
      if (isReserved(key)) throw new TypeError(`setAppletState: the key '${key}' is reserved.`);
      if (value !== undefined) texts.push([key, jsonText(value, `setAppletState: the value of '${key}'`)]);
    }
    for (const [key, text] of texts) {
      if (this.#put(key, text)) this.send(key, () => this.#values.get(key));
    }
  }

  /** `read` gives the value of `key` when the next message goes out. */
  send(key: string, read: () => Json): void {
    this.#pending.set(key, read);
    if (this.#isQueued || this.#timer !== undefined) return;
    this.#isQueued = true;
    queueMicrotask(() => this.flush());
  }

  /** Sends what waits, now: an answer must not overtake the state that it speaks of. */
  flush(): void {
    this.#isQueued = false;
    if (!this.#pending.size) return;
    const data = Object.fromEntries([...this.#pending].map(([key, read]) => [key, read()]));
    this.#pending.clear();
    this.port.send({ type: 'applet:set-state', data });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, INTERVAL);
  }

  /** Whoever comes when there is something to know is told it, once the code that came has run. */
  onUpdate(callback: Callback): () => void {
    checkFunction(callback, 'onStateUpdate');
    // Its own function each time, so that one given twice is called twice and let go one by one.
    const own: Callback = (data, state) => callback(data, state);
    this.#callbacks.add(own);
    if (this.#hasNews) {
      queueMicrotask(() => {
        if (this.#callbacks.has(own)) callAll([own], { ...this.current }, this.current);
      });
    }
    return () => void this.#callbacks.delete(own);
  }

  /** The pushes of a reserved key. */
  onReserved(key: string, callback: (value: Json) => void): void {
    this.#reserved.set(key, callback);
  }

  receive({ data, rev }: StatePushed): void {
    this.#merge(data);
    for (const [key, callback] of this.#reserved) {
      if (Object.hasOwn(data, key)) callAll([callback], data[key]);
    }
    const news = Object.entries(data).filter(([key]) => !isReserved(key));
    if (news.length) {
      this.#hasNews = true;
      callAll(this.#callbacks, Object.fromEntries(news), this.current);
    }
    this.port.send({ type: 'applet:state-seen', rev });
  }

  #merge(data: Values): void {
    for (const [key, value] of Object.entries(data)) {
      if (!isReserved(key)) this.#put(key, JSON.stringify(value));
    }
  }

  #put(key: string, text: string): boolean {
    if (this.#texts.get(key) === text) return false;
    this.#texts.set(key, text);
    this.#values.set(key, deepFreeze(JSON.parse(text)));
    this.#shown = null;
    return true;
  }
}
