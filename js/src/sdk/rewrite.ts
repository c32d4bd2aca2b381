/** Owns the rewriting of a module's imports. It adds no line, so that the lines of errors stay the author's. */

import type { parse } from 'es-module-lexer/minimal/js';
import { resolveOwn } from './own.js';

export type Parse = typeof parse;

/** What becomes of each kind of import in the module at `base`. */
export interface Rewriting {
  /** What to import in place of `specifier`; null leaves it. */
  specifier(specifier: string, base: string, isStatic: boolean): string | null;
  /** The function that resolves what `import()` computes; null leaves that. */
  resolver: string | null;
  meta(base: string): string;
}

export const isRelative = (specifier: string): boolean => /^\.{0,2}\//.test(specifier) && !specifier.startsWith('//');

/** As the import map has it. */
export function resolveSpecifier(specifier: string, base: string): string {
  return (isRelative(specifier) && resolveOwn(specifier, base)) || specifier;
}

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1).replace(/'/g, "\\'");

export function rewrite(parseModule: Parse, source: string, base: string, how: Rewriting): string {
  let imports: ReturnType<Parse>[0];
  try {
    [imports] = parseModule(source);
  } catch {
    // The browser will say better what is wrong with it.
    return source;
  }
  const edits: [start: number, end: number, text: string][] = [];
  for (const { n: name, s: start, e: end, d: dynamic } of imports) {
    if (dynamic === -2) {
      edits.push([start, end, how.meta(base)]);
    } else if (name !== undefined) {
      const target = how.specifier(name, base, dynamic === -1);
      // Of a dynamic import, the quotes are part of what was found.
      const quote = dynamic === -1 ? '' : '"';
      if (target !== null && target !== name) edits.push([start, end, `${quote}${quoted(target)}${quote}`]);
    } else if (how.resolver !== null) {
      edits.push([start, start, `${how.resolver}(`], [end, end, `,${JSON.stringify(base)})`]);
    }
  }
  let text = '';
  let at = 0;
  for (const [start, end, replacement] of edits.sort(([a], [b]) => a - b)) {
    text += source.slice(at, start) + replacement;
    at = end;
  }
  return text + source.slice(at);
}
