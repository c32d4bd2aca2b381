/** Owns how the page's own elements are made: from data, never from HTML text. */

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A button's words, and what it does. */
export type Action = [label: string, run: () => void];

export const button = ([label, run]: Action, properties: Partial<HTMLButtonElement> = {}): HTMLButtonElement =>
  make('button', { type: 'button', textContent: label, onclick: run, ...properties });

/** Once per page, whichever copy of this module comes first. */
export function installStyle(id: string, textContent: string): void {
  if (!document.getElementById(id)) document.head.append(make('style', { id, textContent }));
}
