/** Owns the applet's log: console calls and uncaught errors, as text, to the page; the browser's console keeps them too. */

import { SDK_FILE } from '../frame/messages.js';
import type { AppConsole } from '../protocol.gen.js';
import type { Port } from './port.js';

const LEVELS = ['debug', 'log', 'info', 'warn', 'error'] as const;
const MAX_TEXT = 1000;
const MAX_NODES = 500;
const FLUSH = 50;
const MAX_PER_FLUSH = 200;

export class ConsoleLog {
  #waiting: AppConsole[] = [];
  #dropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly port: Port) {}

  capture(): void {
    for (const level of LEVELS) {
      const original = console[level].bind(console);
      console[level] = (...args: unknown[]) => {
        original(...args);
        this.add(level, args);
      };
    }
  }

  add(level: AppConsole['level'], args: unknown[]): void {
    if (this.#waiting.length < MAX_PER_FLUSH) {
      this.#waiting.push({ type: 'yaar:console', level, args: args.map(textOf), timestamp: Date.now() });
    } else {
      this.#dropped += 1;
    }
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH);
  }

  #flush(): void {
    this.#timer = undefined;
    for (const line of this.#waiting) this.port.send(line);
    if (this.#dropped) this.port.send({ type: 'applet:dropped', count: this.#dropped });
    this.#waiting = [];
    this.#dropped = 0;
  }
}

export function textOf(value: unknown): string {
  let text: string;
  try {
    text = describe(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}

function describe(value: unknown): string {
  if (value instanceof Error) return stackOf(value);
  if (value instanceof Element) return value.outerHTML;
  if (typeof value !== 'object' || value === null) return String(value);
  const above: unknown[] = [];
  let nodes = 0;
  return JSON.stringify(value, function (this: unknown, _key, item: unknown) {
    if ((nodes += 1) > MAX_NODES) return undefined;
    if (typeof item === 'bigint') return `${item}n`;
    if (typeof item === 'function') return `[function ${item.name}]`;
    if (typeof item === 'string') return item.slice(0, MAX_TEXT);
    if (typeof item !== 'object' || item === null) return item;
    // `this` holds the item: what is above it is what led to it, so a repeat in there is a cycle.
    while (above.length && above.at(-1) !== this) above.pop();
    if (above.includes(item)) return '[circular]';
    above.push(item);
    return item;
  });
}

/** The author's part of a stack, with the message at its head: Chrome puts it there, Firefox and Safari do not. */
export function stackOf(error: Error): string {
  const stack = error.stack ?? '';
  const lines = stack.split('\n').filter((line) => line && !line.includes(SDK_FILE));
  if (!stack.includes(error.message)) lines.unshift(`${error.name}: ${error.message}`);
  return lines.join('\n');
}
