/** Owns what a view shows around its frame: the placeholder, the error panel, and the bars about what it wants. */

import { arm } from './armed.js';
import { type Action, button, installStyle, make } from './dom.js';

const STYLE = `
.jupyter-applet{position:relative;color:var(--jp-content-font-color1,inherit);font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif)}
.jupyter-applet iframe{display:block;border:0;width:100%}
.jupyter-applet:is([data-state=loading],[data-state=lost]){min-height:24px;overflow:hidden}
.jupyter-applet:is([data-state=loading],[data-state=lost],[data-state=asking]) iframe{position:absolute;inset:0 0 auto;visibility:hidden}
.jupyter-applet[data-state=closed] iframe{opacity:.5;pointer-events:none}
.jupyter-applet-note{color:var(--jp-ui-font-color2,#757575);padding:2px 8px}
.jupyter-applet-wait{opacity:0;animation:jupyter-applet-show .2s .15s forwards}
@keyframes jupyter-applet-show{to{opacity:1}}
.jupyter-applet-bar,.jupyter-applet-error{margin:4px 0;padding:6px 10px;border:1px solid var(--jp-border-color2,#8884);border-left-width:3px;border-radius:2px;overflow-wrap:anywhere}
.jupyter-applet-bar{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;border-left-color:var(--jp-warn-color1,#f57c00)}
.jupyter-applet-bar span{flex:1 1 14em}
.jupyter-applet button{font:inherit;color:inherit;background:var(--jp-layout-color2,#8882);border:1px solid var(--jp-border-color1,#8886);border-radius:2px;padding:1px 10px;cursor:pointer}
.jupyter-applet button:disabled{opacity:.45;cursor:default}
.jupyter-applet button:focus-visible,.jupyter-applet summary:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:1px}
.jupyter-applet-error{border-left-color:var(--jp-error-color1,#d32f2f)}
.jupyter-applet-error b{font:600 12px/1.5 var(--jp-code-font-family,ui-monospace,monospace)}
.jupyter-applet-error pre{margin:4px 0 0;font:12px/1.4 var(--jp-code-font-family,ui-monospace,monospace);white-space:pre-wrap;color:var(--jp-ui-font-color2,inherit)}
.jupyter-applet summary{cursor:pointer;color:var(--jp-ui-font-color2,inherit)}
.jupyter-applet-run{margin:4px 0;padding:8px 12px;border:1px solid var(--jp-border-color2,#8884);border-radius:2px;overflow-wrap:anywhere}
.jupyter-applet-run p{margin:4px 0}
.jupyter-applet-run pre{max-height:200px;overflow:auto;margin:2px 0 8px;font:12px/1.4 var(--jp-code-font-family,ui-monospace,monospace);white-space:pre-wrap}
.jupyter-applet-run>div{margin-top:8px}
.jupyter-applet-grants>button{position:absolute;top:2px;right:2px;z-index:1;opacity:0;padding:0 5px;color:var(--jp-ui-font-color2,#757575);background:var(--jp-layout-color1,#fff)}
.jupyter-applet:hover .jupyter-applet-grants>button,.jupyter-applet-grants>button:is(:focus-visible,[aria-expanded=true]){opacity:1}
.jupyter-applet-grants>button::before{content:"";display:block;width:11px;height:13px;margin:3px 0;background:currentColor;clip-path:path(evenodd,"M5.5 0 0 2v4c0 3.4 2.3 5.8 5.5 7 3.2-1.2 5.5-3.6 5.5-7v-4zM5.5 1.4 9.7 2.9v3.1c0 2.7-1.7 4.6-4.2 5.6-2.5-1-4.2-2.9-4.2-5.6v-3.1z")}
.jupyter-applet-grants ul{margin:4px 0;padding:6px 10px;list-style:none;border:1px solid var(--jp-border-color2,#8884);border-radius:2px;overflow-wrap:anywhere}
.jupyter-applet-grants li{display:flex;gap:8px;align-items:center;justify-content:space-between}
.jupyter-applet-grants li+li{margin-top:4px}
`;

/** An applet must not be able to fill the notebook with them. */
const MAX_BARS = 20;

export interface Failure {
  message: string;
  stack?: string;
  /** A button, when something can be done about it. */
  action?: Action;
}

export interface Question {
  setText(text: string): void;
  remove(): void;
}

export class Panels {
  readonly root = make('div', { className: 'jupyter-applet' });
  #note: HTMLElement | null = null;
  #error: HTMLElement | null = null;
  readonly #bars = new Map<string, HTMLElement>();

  constructor(frame: HTMLElement) {
    installStyle('jupyter-applet-style', STYLE);
    this.root.append(frame);
  }

  get isShown(): boolean {
    return this.root.dataset['state'] === 'shown';
  }

  /** The frame is there but cannot be seen; fast loads show nothing at all. What comes in place of something keeps its height. */
  showLoading(textContent = 'Loading the applet…'): void {
    if (this.isShown) this.root.style.minHeight = `${this.root.offsetHeight}px`;
    this.#setState('loading', make('div', { className: 'jupyter-applet-note jupyter-applet-wait', textContent }));
  }

  /** A question in place of the frame. */
  showInstead(panel: HTMLElement): void {
    this.#setState('asking', panel);
    arm(panel);
  }

  /** Something can be seen; a closed applet stays closed. */
  showFrame(): void {
    if (this.root.dataset['state'] !== 'closed') this.#setState('shown', null);
  }

  /** The frame holds the browser's own error page, which helps nobody. */
  showLost(): void {
    this.#setState('lost', null);
  }

  showClosed(): void {
    this.clearBars();
    this.#setState('closed', make('div', { className: 'jupyter-applet-note', textContent: 'This applet was closed.' }));
  }

  /** The first is shown, until the document is another one: those after it mostly follow from it. */
  showError(failure: Failure): void {
    this.#error ??= this.#alert(failure);
  }

  /** Stays, whatever the frame does. */
  showRefusal(message: string): void {
    this.#alert({ message });
  }

  clearError(): void {
    this.#error?.remove();
    this.#error = null;
  }

  /** One bar per key; a second of the same key changes nothing, also when the first was dismissed. */
  showBar(key: string, text: string, actions: Action[] = []): void {
    const bar = this.#bar(key, text);
    bar?.append(...actions.map((action) => button(action)), button(['Dismiss', () => bar.remove()]));
  }

  /** One that waits for an answer: whatever is chosen, it goes. Null when there are too many bars. */
  showQuestion(key: string, text: string, actions: Action[]): Question | null {
    const bar = this.#bar(key, text);
    if (!bar) return null;
    const remove = (): void => this.removeBar(key);
    const last = actions.at(-1);
    bar.append(...actions.map(([label, run]) => button([label, () => (remove(), run())])));
    bar.onkeydown = (event) => {
      // The last is the cautious one.
      if (event.key === 'Escape' && last) remove(), last[1]();
    };
    arm(bar);
    return { remove, setText: (changed) => void (bar.firstElementChild && (bar.firstElementChild.textContent = changed)) };
  }

  removeBar(key: string): void {
    this.#bars.get(key)?.remove();
    this.#bars.delete(key);
  }

  dispose(): void {
    this.root.replaceChildren();
    this.root.remove();
  }

  clearBars(): void {
    for (const bar of this.#bars.values()) bar.remove();
    this.#bars.clear();
  }

  #bar(key: string, text: string): HTMLElement | null {
    // What was dismissed stays dismissed: its key is kept.
    if (this.#bars.has(key) || this.root.querySelectorAll('.jupyter-applet-bar').length >= MAX_BARS) return null;
    const bar = make('div', { className: 'jupyter-applet-bar', role: 'status' }, make('span', { textContent: text }));
    this.#bars.set(key, bar);
    this.root.append(bar);
    return bar;
  }

  #alert({ message, stack, action }: Failure): HTMLElement {
    const panel = make('div', { className: 'jupyter-applet-error', role: 'alert' }, make('b', { textContent: message }));
    if (stack) panel.append(make('details', {}, make('summary', { textContent: 'Details' }), make('pre', { textContent: stack })));
    if (action) panel.append(' ', button(action));
    this.root.append(panel);
    return panel;
  }

  #setState(state: 'loading' | 'asking' | 'shown' | 'lost' | 'closed', note: HTMLElement | null): void {
    this.root.dataset['state'] = state;
    if (state !== 'loading') this.root.style.minHeight = '';
    this.#note?.remove();
    this.#note = note;
    if (note) this.root.append(note);
  }
}
