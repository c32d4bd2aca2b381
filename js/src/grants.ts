/** Owns the list of what people decided about an applet: a small button on its frame, and what it opens. */

import { button, make } from './dom.js';
import { describe, type Granted } from './permissions.js';

export class Grants {
  readonly #element = make('div', { className: 'jupyter-applet-grants' });
  readonly #toggle = button(['', () => this.#open(Boolean(this.#list.hidden))], { title: 'What this applet may do' });
  readonly #list = make('ul', { hidden: true });
  #shown = '';

  constructor(
    private readonly root: HTMLElement,
    private readonly takeBack: (permission: string) => void,
  ) {
    this.#open(false);
    this.#element.append(this.#toggle, this.#list);
    this.#element.onkeydown = ({ key }) => {
      if (key === 'Escape') this.#open(false);
    };
  }

  show(granted: Granted): void {
    const decisions = Object.entries(granted);
    // A list that is made again under the pointer would take another click.
    if (this.#shown === JSON.stringify(decisions)) return;
    this.#shown = JSON.stringify(decisions);
    if (decisions.length) this.root.append(this.#element);
    else this.#element.remove();
    this.#list.replaceChildren(
      ...decisions.map(([permission, value]) => make('li', {}, `${describe(permission, value)} `, button(['Take back', () => this.takeBack(permission)]))),
    );
  }

  #open(isOpen: boolean): void {
    this.#list.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
  }
}
