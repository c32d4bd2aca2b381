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

/** Longer than this nobody reads what somebody else has written. */
const MAX_SHOWN = 120;

/** Somebody else's words among ours: in quotes, on one line, with nothing that hides or turns round what stands there. */
export function shown(text: string, limit = MAX_SHOWN): string {
  const letters = [...text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '').replace(/[“”]/g, '"').trim()];
  if (letters.length > limit) letters.splice(limit / 2, letters.length - limit + 1, '…');
  return `“${letters.join('')}”`;
}

/** Once per page, whichever copy of this module comes first. */
export function installStyle(id: string, textContent: string): void {
  if (!document.getElementById(id)) document.head.append(make('style', { id, textContent }));
}
