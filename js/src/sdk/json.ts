/** Owns how values become JSON, and errors text. */

import type { Json } from '../protocol.gen.js';

/** Always a text: an applet may throw anything, and what it threw must not cost a request its answer. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message || error.name) : String(error ?? 'The handler threw nothing.');
  } catch {
    return 'The handler threw something that has no text.';
  }
}

/** The JSON of `value`, or a TypeError that says why there is none. */
export function jsonText(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new TypeError(`${what} cannot be sent as JSON: ${messageOf(error)}`);
  }
  if (text === undefined) throw new TypeError(`${what} cannot be sent as JSON: it is a ${typeof value}.`);
  return text;
}

/** `value`, which JSON made, such that nobody can change it. */
export function deepFreeze(value: Json): Json {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** Calls each; one that throws stops none of the others. */
export function callAll<A extends unknown[]>(callbacks: Iterable<(...args: A) => unknown>, ...args: A): void {
  for (const callback of [...callbacks]) {
    try {
      callback(...args);
    } catch (error) {
      reportError(error);
    }
  }
}

export function checkFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') throw new TypeError(`${name}: give it a function.`);
}
