/** Owns the questions that a view puts to the person: one bar for all that want the same, one decision for them all. */

import type { Action } from './dom.js';
import type { Panels, Question } from './panels.js';

/** `unasked` where there are so many bars that nobody will read another: that is nobody's no. */
export type Decision = 'once' | 'always' | 'deny' | 'unasked';

export interface Wish {
  /** Wishes of one key share a bar. */
  key: string;
  /** What it is about: a path, an origin. */
  what: string;
  /** The same, as it is shown. Two may look alike. */
  about: string;
  /** The question, with what the wishes of this key are about. */
  text(about: string): string;
  /** Whether there is anything to decide for good. */
  canAlways: boolean;
  /** What else a person should know before deciding. */
  note?: string;
}

interface Open {
  bar: Question;
  abouts: Map<string, string>;
  waiting: ((decision: Decision) => void)[];
}

/** So many can be read. */
const MAX_ABOUTS = 5;

function summary(abouts: string[]): string {
  const more = abouts.length - MAX_ABOUTS;
  return abouts.slice(0, MAX_ABOUTS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export class Asking {
  readonly #open = new Map<string, Open>();

  constructor(
    private readonly panels: Panels,
    /** A person has decided. */
    private readonly decided: () => void,
  ) {}

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Never settled when the document goes before the person has decided. */
  ask(wish: Wish): Promise<Decision> {
    return new Promise((resolve) => {
      const open = this.#open.get(wish.key) ?? this.#show(wish);
      if (!open) return resolve('unasked');
      open.abouts.set(wish.what, wish.about);
      open.bar.setText(`${wish.text(summary([...open.abouts.values()]))} ${wish.note ?? ''}`.trim());
      open.waiting.push(resolve);
    });
  }

  /** Whoever wanted something has gone. */
  drop(): void {
    for (const { bar } of this.#open.values()) bar.remove();
    this.#open.clear();
  }

  #show({ key, canAlways }: Wish): Open | null {
    const decide = (decision: Decision) => (): void => {
      const waiting = this.#open.get(key)?.waiting ?? [];
      this.#open.delete(key);
      for (const resolve of waiting) resolve(decision);
      this.decided();
    };
    const actions: Action[] = [['Allow once', decide('once')]];
    if (canAlways) actions.push(['Always for this applet', decide('always')]);
    const bar = this.panels.showQuestion(key, '', [...actions, ['Deny', decide('deny')]]);
    if (!bar) return null;
    const open: Open = { bar, abouts: new Map(), waiting: [] };
    this.#open.set(key, open);
    return open;
  }
}
