/**
 * Owns the snapshots: the values of the state keys marked `snapshot`, sent when they changed.
 * A snapshot holds every command that was answered before it, and no other: the host counts on that.
 * So none is taken while a command runs, and none is kept when one began meanwhile.
 */

import type { AppSnapshot } from '../protocol.gen.js';
import type { StateEntry } from './registration.js';

const DELAY = 100;
const INTERVAL = 1000;
const MAX_KEY = 256 * 1024;
const MAX_ALL = 1024 * 1024;

export class Snapshots {
  #entries: [string, StateEntry][] = [];
  #running = 0;
  /** Grows with each registration and change; tells whether one came while async handlers were read. */
  #generation = 0;
  #registered = 0;
  /** Counts the changes that have settled: after each the host gets a snapshot, even of the same values. */
  #settled = 0;
  #sent: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #cost = 0;
  #warned = false;

  constructor(private readonly send: (message: AppSnapshot) => void) {}

  /** Reads when the user did something, and now and then while the applet can be seen. */
  listen(): void {
    for (const type of ['input', 'change', 'click', 'keyup', 'pointerup', 'drop']) {
      window.addEventListener(type, () => this.touch(), { capture: true, passive: true });
    }
    setInterval(() => {
      if (document.visibilityState === 'visible') this.touch();
    }, INTERVAL);
  }

  /** A new registration. What it holds now is no news: it may be about to be hydrated, and must not replace what is kept. */
  watch(state: Record<string, StateEntry>): void {
    this.#entries = Object.entries(state).filter(([, entry]) => entry.snapshot === true);
    this.#sent = null;
    this.#registered = this.#generation += 1;
    if (this.#entries.length) queueMicrotask(() => void this.#take());
  }

  /** A command or a hydrate runs. */
  changeStarted(): void {
    this.#running += 1;
    this.#generation += 1;
  }

  changeSettled(): void {
    this.#running -= 1;
    this.#settled += 1;
    this.touch();
  }

  /** Something may have changed: look soon. Costly handlers are read less often, for a tenth of the time at most. */
  touch(): void {
    if (!this.#entries.length || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#take();
      },
      Math.max(DELAY, this.#cost * 10),
    );
  }

  async #take(): Promise<void> {
    if (this.#running) return;
    const generation = this.#generation;
    const began = performance.now();
    const read = this.#entries.map(([key, entry]) => {
      try {
        return [key, entry.handler()] as const;
      } catch {
        return [key, undefined] as const;
      }
    });
    const values = await Promise.all(read.map(async ([key, value]) => [key, await Promise.resolve(value).catch(() => undefined)] as const));
    if (generation !== this.#generation) return this.touch();
    const text = this.#encode(values);
    this.#cost = performance.now() - began;
    const isNew = this.#sent !== null || generation !== this.#registered;
    const mark = `${this.#settled} ${text}`;
    if (mark === this.#sent) return;
    this.#sent = mark;
    if (isNew) this.send({ type: 'yaar:app-snapshot', state: JSON.parse(text) });
  }

  /** A key that cannot be kept is left out, and the author told once. */
  #encode(values: readonly (readonly [string, unknown])[]): string {
    const parts: string[] = [];
    let total = 0;
    for (const [key, value] of values) {
      let text: string | undefined;
      try {
        text = JSON.stringify(value);
      } catch {
        text = undefined;
      }
      if (text === undefined) continue;
      if (text.length > MAX_KEY || total + text.length > MAX_ALL) {
        if (!this.#warned) console.warn(`The snapshot of '${key}' is too large to be kept (${text.length} characters).`);
        this.#warned = true;
        continue;
      }
      total += text.length;
      parts.push(`${JSON.stringify(key)}:${text}`);
    }
    return `{${parts.join(',')}}`;
  }
}
