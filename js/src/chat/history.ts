/** Owns the walk through what a person said before, by the up and down keys. It knows texts, no keys and no elements. */

export class InputHistory {
  #texts: string[] = [];
  /** Where the walk is; the number of texts where it began, at the draft. */
  #at = 0;
  #draft = '';

  /** Whether the text is one that the walk brought, as it was. */
  isAt(text: string): boolean {
    return this.#at < this.#texts.length && this.#texts[this.#at] === text;
  }

  /** The text before or after the one that is shown; null where there is none. */
  walk(step: -1 | 1, shown: string, said: () => string[]): string | null {
    if (!this.isAt(shown)) {
      // Whoever has changed a text begins anew, with that as the draft.
      if (step > 0) return null;
      this.#texts = said().filter((text, i, all) => text !== all[i - 1]);
      this.#at = this.#texts.length;
      this.#draft = shown;
    }
    const to = this.#at + step;
    if (to < 0 || to > this.#texts.length) return null;
    this.#at = to;
    return to === this.#texts.length ? this.#draft : (this.#texts[to] ?? null);
  }

  reset(): void {
    this.#texts = [];
    this.#at = 0;
  }
}

/** Whether the up (or down) key is for the history: in a text of several lines it first goes through those. */
export function isAtEdge(step: -1 | 1, text: string, caret: number, isOneLine: boolean): boolean {
  if (isOneLine) return true;
  return step < 0 ? caret === 0 : caret === text.length;
}
