/**
 * Owns where each row of a long list is, of which only some are rendered: measured heights, and estimates of the others.
 * Numbers only; log.tsx has the elements.
 */

/** A place in the list that means the same after rows above it have come or been measured. */
export interface Anchor {
  key: string;
  /** How far below the row's top the viewport begins. */
  delta: number;
}

export interface Range {
  first: number;
  /** Exclusive. */
  last: number;
}

export class Heights {
  #keys: readonly string[] = [];
  #places = new Map<string, number>();
  readonly #measured = new Map<string, number>();
  readonly #estimated = new Map<string, number>();
  /** Where each row begins, and in the end the whole; as far as `#valid`. */
  #offsets = new Float64Array(1);
  #valid = 0;

  /** The rows, in order. `estimate` is asked once for each that was not measured. */
  setRows(keys: readonly string[], estimate: (place: number) => number): void {
    this.#keys = keys;
    this.#places = new Map(keys.map((key, i) => [key, i]));
    keys.forEach((key, i) => {
      if (!this.#estimated.has(key)) this.#estimated.set(key, estimate(i));
    });
    this.#offsets = new Float64Array(keys.length + 1);
    this.#valid = 0;
  }

  /** Whether that is news. */
  measure(key: string, height: number): boolean {
    const known = this.#measured.get(key) ?? this.#estimated.get(key);
    this.#measured.set(key, height);
    if (known !== undefined && Math.abs(known - height) < 0.1) return false;
    this.#valid = Math.min(this.#valid, this.#places.get(key) ?? this.#valid);
    return true;
  }

  /** The list has another width: nothing that was measured holds. */
  forget(): void {
    this.#measured.clear();
    this.#estimated.clear();
  }

  get count(): number {
    return this.#keys.length;
  }

  get total(): number {
    return this.offsetOf(this.#keys.length);
  }

  offsetOf(place: number): number {
    const end = Math.min(place, this.#keys.length);
    for (; this.#valid < end; this.#valid += 1) this.#offsets[this.#valid + 1] = (this.#offsets[this.#valid] ?? 0) + this.#height(this.#valid);
    return this.#offsets[end] ?? 0;
  }

  /** The row at a distance from the top; the first or the last where there is none. */
  placeAt(y: number): number {
    this.offsetOf(this.#keys.length);
    let low = 0;
    let high = Math.max(0, this.#keys.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#offsets[middle] ?? 0) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  range(top: number, height: number, margin: number): Range {
    if (!this.#keys.length) return { first: 0, last: 0 };
    return { first: this.placeAt(top - margin), last: this.placeAt(top + height + margin) + 1 };
  }

  anchorAt(top: number): Anchor | null {
    const place = this.placeAt(top);
    const key = this.#keys[place];
    return key === undefined ? null : { key, delta: top - this.offsetOf(place) };
  }

  /** Where the viewport begins for an anchor; null when its row is gone. */
  topOf({ key, delta }: Anchor): number | null {
    const place = this.#places.get(key);
    return place === undefined ? null : this.offsetOf(place) + delta;
  }

  #height(place: number): number {
    const key = this.#keys[place] ?? '';
    return this.#measured.get(key) ?? this.#estimated.get(key) ?? 0;
  }
}

/** About how high a text is, `width` wide. Only the beginning of a long one is looked at. */
export function estimateText(text: string, width: number, line = 21): number {
  const perLine = Math.max(20, width / 7);
  const looked = text.length > 4000 ? text.slice(0, 4000) : text;
  let lines = 0;
  for (let from = 0, to = 0; to >= 0; from = to + 1) {
    to = looked.indexOf('\n', from);
    lines += Math.max(1, Math.ceil(((to < 0 ? looked.length : to) - from) / perLine));
  }
  return lines * line * (text.length / looked.length || 1);
}
