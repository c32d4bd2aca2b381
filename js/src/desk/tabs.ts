/** Owns a desk's row of tabs: one per window, chosen and closed by mouse or keys. It shows, and tells what a person wants. */

import { button, make } from '../dom.js';
import type { WindowInfo } from '../protocol.gen.js';

export interface TabsEvents {
  chosen(windowId: string): void;
  closed(windowId: string): void;
}

class Tab {
  readonly title = button(['', () => {}], { role: 'tab' });
  readonly #close = button(['×', () => {}], { tabIndex: -1 });
  readonly element = make('div', { className: 'jupyter-applet-tab', role: 'presentation' }, this.title, this.#close);

  constructor(windowId: string, panelId: string, events: TabsEvents) {
    this.title.id = `${panelId}-tab`;
    this.title.setAttribute('aria-controls', panelId);
    this.title.onclick = () => events.chosen(windowId);
    this.#close.onclick = () => events.closed(windowId);
    this.element.onauxclick = (event) => {
      if (event.button !== 1) return;
      event.preventDefault();
      events.closed(windowId);
    };
  }

  show({ title, windowId, ready }: WindowInfo): void {
    const name = title || windowId;
    this.title.textContent = name;
    this.title.title = name;
    this.#close.title = `Close ${name}`;
    this.#close.setAttribute('aria-label', this.#close.title);
    this.element.toggleAttribute('data-ready', ready);
  }

  select(isSelected: boolean): void {
    this.element.toggleAttribute('data-selected', isSelected);
    this.title.setAttribute('aria-selected', String(isSelected));
    // One stop for the tab key; the arrows do the rest.
    this.title.tabIndex = isSelected ? 0 : -1;
  }

  flash(): void {
    this.element.setAttribute('data-flash', '');
    this.element.onanimationend = () => this.element.removeAttribute('data-flash');
  }
}

export class Tabs {
  readonly element = make('div', { className: 'jupyter-applet-tabs', role: 'tablist' });
  readonly #tabs = new Map<string, Tab>();
  /** The tab that was closed had it: the next key is for the one that comes instead, not for the notebook. */
  #hasLostFocus = false;

  constructor(
    private readonly events: TabsEvents,
    private readonly panelId: (windowId: string) => string,
  ) {
    this.element.setAttribute('aria-label', 'Applets');
    this.element.onkeydown = (event) => this.#onKey(event);
  }

  /** Tabs that stay are the same elements, so that focus stays where it is. */
  show(windows: readonly WindowInfo[]): void {
    const names = new Set(windows.map(({ windowId }) => windowId));
    for (const [windowId, tab] of this.#tabs) {
      if (names.has(windowId)) continue;
      this.#hasLostFocus ||= tab.element.contains(document.activeElement);
      tab.element.remove();
      this.#tabs.delete(windowId);
    }
    windows.forEach((window, i) => {
      const { windowId } = window;
      const tab = this.#tabs.get(windowId) ?? new Tab(windowId, this.panelId(windowId), this.events);
      this.#tabs.set(windowId, tab);
      tab.show(window);
      const there = this.element.children[i] ?? null;
      if (there !== tab.element) this.element.insertBefore(tab.element, there);
    });
    this.#giveFocus(this.element.querySelector('[data-selected]'));
  }

  select(windowId: string | null): void {
    for (const [name, tab] of this.#tabs) tab.select(name === windowId);
    const chosen = this.#tabs.get(windowId ?? '')?.element;
    if (!chosen) return;
    this.#giveFocus(chosen);
    // Not scrollIntoView, which would move the notebook as well.
    const { offsetLeft, offsetWidth } = chosen;
    const { scrollLeft, clientWidth } = this.element;
    const start = offsetLeft - this.element.offsetLeft;
    if (start < scrollLeft) this.element.scrollLeft = start;
    else if (start + offsetWidth > scrollLeft + clientWidth) this.element.scrollLeft = start + offsetWidth - clientWidth;
  }

  flash(windowId: string): void {
    this.#tabs.get(windowId)?.flash();
  }

  #giveFocus(tab: Element | null): void {
    if (!this.#hasLostFocus || !tab) return;
    this.#hasLostFocus = false;
    (tab.firstElementChild as HTMLElement).focus({ preventScroll: true });
  }

  #onKey(event: KeyboardEvent): void {
    const titles = [...this.element.querySelectorAll<HTMLElement>('[role=tab]')];
    const at = titles.indexOf(event.target as HTMLElement);
    if (at < 0) return;
    const last = titles.length - 1;
    const to = { ArrowLeft: at ? at - 1 : last, ArrowRight: at < last ? at + 1 : 0, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      titles[to]?.focus();
      titles[to]?.click();
    } else if (event.key === 'Delete') {
      (titles[at]?.nextElementSibling as HTMLElement | null)?.click();
    } else {
      return;
    }
    event.preventDefault();
    // Lab has its own meaning for these keys in a notebook.
    event.stopPropagation();
  }
}
