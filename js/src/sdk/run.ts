/** Owns how the applet's `js` is run: as a classic global script, or as a module when it is one. */

import { type Modules, placeOf } from './modules.js';

const MARKED = /^(?:\s|\/\/.*\n|\/\*[^]*?\*\/)*?(?:\/\/[^\n]*@module\b|\/\*(?:(?!\*\/)[^])*@module\b)/;

/** A module says so in a leading comment, or uses import or export where a script could not. */
export function isModule(js: string): boolean {
  if (MARKED.test(js)) return true;
  if (!/\b(?:import|export)\b/.test(js)) return false;
  try {
    new Function(js);
    return false;
  } catch (error) {
    return error instanceof SyntaxError;
  }
}

/** A script element, so that `onclick="go()"` finds `go`; its lines are the author's lines. */
export function run(js: string, modules: Modules, path: string, name: string): void {
  const script = document.createElement('script');
  if (isModule(js)) script.type = 'module';
  // A module that is not there tells only the element.
  script.onerror = () => reportError(new Error(modules.missing.join(' ') || `A module that ${name} imports could not be loaded.`));
  script.textContent = `${modules.rewritten(js, placeOf(path))}\n//# sourceURL=${name}`;
  document.head.append(script);
  script.remove();
}
