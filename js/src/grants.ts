/** Owns the list of what people decided about an applet: a small button on its frame, and what it opens. */

import { button, make } from './dom.js';
import { describe, type Granted } from './permissions.js';

/** Drawn, because few fonts have one. */
function shield(): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  for (const [name, value] of Object.entries({ viewBox: '0 0 16 16', width: '14', height: '14', 'aria-hidden': 'true' })) svg.setAttribute(name, value);
  path.setAttribute('d', 'M8 1.5 2.5 3.5v4c0 3.4 2.3 5.8 5.5 7 3.2-1.2 5.5-3.6 5.5-7v-4z');
  for (const [name, value] of Object.entries({ fill: 'none', stroke: 'currentColor', 'stroke-width': '1.3' })) path.setAttribute(name, value);
  svg.append(path);
  return svg;
}

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
    this.#toggle.append(shield());
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
