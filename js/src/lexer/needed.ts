/** Owns the cheap look at an applet's code that decides whether the module lexer is needed. Too often is not wrong, only slow. */

import type { Content } from '../protocol.gen.js';

/** Relative specifiers, dynamic imports, `import.meta`. */
const REWRITTEN = /\bimport\s*\(|\bimport\s*\.\s*meta\b|\b(?:from|import)\s*["']\.{0,2}\//;

/** A module worker has no import map: all that it imports is put into it. */
const WORKER = /\bWorker\s*\(/;

export const isScript = (path: string): boolean => /\.[cm]?js$/i.test(path);

export const isRewritten = (source: string): boolean => REWRITTEN.test(source);

export function needsLexer({ js = '', modules = {}, files = {} }: Content): boolean {
  const scripts = Object.entries(files).map(([path, { text }]) => (isScript(path) && text) || '');
  const sources = [js, ...Object.values(modules), ...scripts];
  if (sources.some(isRewritten)) return true;
  // A worker's file is one of the applet's, so without files there is nothing to put into it.
  return scripts.length > 0 && sources.some((source) => WORKER.test(source));
}
