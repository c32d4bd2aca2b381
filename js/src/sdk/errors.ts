/** Owns uncaught errors: all go to the log; those of the applet's start are also shown in the output. */

import { SDK_FILE, type StartFailed } from '../frame/messages.js';
import { type ConsoleLog, stackOf } from './console.js';
import type { Port } from './port.js';

const HTML_FILE = 'applet.html';

const isHtml = (file: string): boolean => file === '' || file.startsWith('about:');
const place = (file: string, line: string | number, column: string | number): string =>
  `${isHtml(file) ? HTML_FILE : file.replace(/^.*\//, '')}:${line}:${column}`;

/** The first place in a stack that is the author's. */
function placeIn(stack: string): string {
  for (const [, file = '', line = '', column = ''] of stack.matchAll(/([\w.:/-]+):(\d+):(\d+)\)?$/gm)) {
    if (!file.endsWith(SDK_FILE)) return place(file, line, column);
  }
  return '';
}

/** What Chrome says first of a script that does not parse: how we ran it. */
const APPEND = /Failed to execute 'append' on 'Element': /;

export class Errors {
  #starting = true;
  /** The name of the applet's `js`, from when it runs. */
  #js = '';

  constructor(
    private readonly port: Port,
    private readonly log: ConsoleLog,
    /** Whether an element that failed to load is loaded by us. */
    private readonly isOurs: (element: Element) => boolean,
    /** What the author calls a file. */
    private readonly nameOf: (file: string) => string,
  ) {}

  watch(): void {
    window.addEventListener('error', (event: Event) => this.#onError(event), true);
    window.addEventListener('unhandledrejection', ({ reason }) => {
      this.#fail(reason, placeIn(String(reason?.stack ?? '')), `Unhandled rejection: ${String(reason)}`);
    });
    // A rejection is told after the code that caused it, so the start ends a tick after the load.
    window.addEventListener('load', () => setTimeout(() => (this.#starting = false)));
  }

  /** The HTML's own scripts have run; what fails to parse from now on is the `js`. */
  jsRuns(name: string): void {
    this.#js = name;
  }

  #onError(event: Event): void {
    if (!(event instanceof ErrorEvent)) {
      const element = event.target as HTMLElement & { src?: string; href?: string };
      if (element instanceof Element && this.isOurs(element)) return;
      this.log.add('error', [`Could not load <${element.localName}> ${String(element.src ?? element.href ?? '')}`]);
      return;
    }
    const { error, lineno, colno, message } = event;
    const filename = this.nameOf(event.filename);
    let where = filename.endsWith(SDK_FILE) || !lineno ? placeIn(String(error?.stack ?? '')) : place(filename, lineno, colno);
    // Code that does not parse has not told its name yet.
    if (this.#js && error instanceof SyntaxError && isHtml(filename)) where = place(this.#js, lineno, colno);
    this.#fail(error, where || this.#js, message);
  }

  #fail(error: unknown, where: string, fallback: string): void {
    const stack = error instanceof Error ? stackOf(error).replace(APPEND, '') : '';
    const message = error instanceof Error ? `${error.name}: ${error.message.replace(APPEND, '')}` : fallback;
    this.log.add('error', [`Uncaught ${message}${where && ` (${where})`}`, ...(stack ? [stack] : [])]);
    if (this.#starting) this.port.send({ type: 'applet:failed', where, message, stack } satisfies StartFailed);
  }
}
