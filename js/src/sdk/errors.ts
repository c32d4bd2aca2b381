/** Owns uncaught errors: all go to the log; those of the applet's start are also shown in the output. */

import type { StartFailed } from '../frame/messages.js';
import { type ConsoleLog, stackOf } from './console.js';
import type { Port } from './port.js';

/** Author's names for where code stands: the `js` trait, or a script in the HTML. */
const place = (file: string, line: number, column: number): string =>
  line ? `${file.startsWith('about:') || !file ? 'applet.html' : file.replace(/^.*\//, '')}:${line}:${column}` : '';

export function watchErrors(port: Port, log: ConsoleLog): void {
  let starting = true;
  // A rejection is told after the code that caused it, so the start ends a tick after the load.
  window.addEventListener('load', () => setTimeout(() => (starting = false)));

  const fail = (where: string, error: unknown, fallback: string): void => {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : fallback;
    const stack = error instanceof Error ? stackOf(error) : '';
    log.add('error', [`Uncaught ${message}${where && ` (${where})`}`, ...(stack ? [stack] : [])]);
    if (starting) port.send({ type: 'applet:failed', where, message, stack } satisfies StartFailed);
  };

  window.addEventListener(
    'error',
    (event: Event) => {
      if (event instanceof ErrorEvent) {
        fail(place(event.filename, event.lineno, event.colno), event.error, event.message);
      } else {
        const element = event.target as HTMLElement & { src?: string; href?: string };
        log.add('error', [`Could not load <${element.localName}> ${String(element.src ?? element.href ?? '')}`]);
      }
    },
    true,
  );
  window.addEventListener('unhandledrejection', ({ reason }) => {
    const stack: unknown = reason?.stack;
    const at = typeof stack === 'string' ? /([\w.:]+):(\d+):(\d+)\)?$/m.exec(stack) : null;
    fail(at ? place(at[1] ?? '', Number(at[2]), Number(at[3])) : '', reason, `Unhandled rejection: ${String(reason)}`);
  });
}
