/** A session's windows as tabs. The host says which there are and which is to be in front; a person may choose another. */

import type { Channel, ChannelDesk } from '../channel/channel.js';
import { randomId } from '../channel/shared.js';
import { installStyle, make } from '../dom.js';
import type { WindowInfo, WindowList } from '../protocol.gen.js';
import type { View } from '../view.js';
import { STYLE } from './style.js';
import { Tabs } from './tabs.js';

const EMPTY = "No applet is open. An agent opens one with set_applet_content, or run load_applet('calculator').";

export interface DeskOptions {
  channel(): Channel;
  /** Another channel, when there is no host behind the first. */
  fallBack(): Channel;
  /** A view of a window of which nothing is known yet. */
  makeView(windowId: string): View;
}

interface Panel {
  element: HTMLElement;
  view: View;
}

export class Desk implements ChannelDesk {
  readonly element = make('div', { className: 'jupyter-applet-desk' });
  readonly #options: DeskOptions;
  readonly #tabs: Tabs;
  readonly #id = `applets-${randomId()}`;
  readonly #note = make('div', { className: 'jupyter-applet-desk-note jupyter-applet-wait', role: 'status', textContent: 'Looking for applets…' });
  /** The windows that were in front once, or that nobody else shows: they live on, out of sight. */
  readonly #panels = new Map<string, Panel>();
  #channel: Channel;
  #windows: WindowInfo[] = [];
  #front: string | null = null;
  /** What the host last said is active; undefined before its first word. */
  #active: string | null | undefined;

  constructor(options: DeskOptions) {
    installStyle('jupyter-applet-desk-style', STYLE);
    this.#options = options;
    const chosen = (windowId: string): void => {
      this.#bringToFront(windowId);
      this.#channel.send([{ type: 'activate', windowId }]);
    };
    const closed = (windowId: string): void => this.#channel.send([{ type: 'closeWindow', windowId }]);
    this.#tabs = new Tabs({ chosen, closed }, (windowId) => this.#panelId(windowId));
    this.element.append(this.#tabs.element, this.#note);
    this.#channel = options.channel();
    this.#channel.watch(this);
  }

  dispose(): void {
    this.#channel.unwatch(this);
    for (const { view } of this.#panels.values()) view.dispose();
    this.#panels.clear();
    this.element.remove();
  }

  setHeight(height: number | string): void {
    this.element.style.height = typeof height === 'string' ? height : `${height}px`;
  }

  // ---- for the channel

  showWindows({ windows, active = null }: WindowList): void {
    this.#windows = windows.filter(({ renderer }) => renderer === 'iframe');
    this.#tabs.show(this.#windows);
    for (const windowId of [...this.#panels.keys()]) if (!this.#has(windowId)) this.#remove(windowId);
    // What no view shows could not answer anybody.
    for (const { windowId, shown } of this.#windows) if (!shown && !this.#panels.has(windowId)) this.#add(windowId).hidden = true;
    const isFirst = this.#active === undefined;
    const isOther = active !== this.#active;
    this.#active = active;
    if (isOther && active !== null && active !== this.#front && this.#has(active)) {
      this.#bringToFront(active);
      if (!isFirst) this.#tabs.flash(active);
    } else if (this.#front === null || !this.#has(this.#front)) {
      this.#bringToFront(this.#windows.at(-1)?.windowId ?? null);
    }
    this.#showNote();
  }

  showRefusal(message: string): void {
    this.#say(message, 'alert');
  }

  unreachable(): void {
    this.#channel = this.#options.fallBack();
    this.#channel.watch(this);
  }

  // ---- inside

  #has(windowId: string): boolean {
    return this.#windows.some((window) => window.windowId === windowId);
  }

  #panelId(windowId: string): string {
    return `${this.#id}-${encodeURIComponent(windowId)}`;
  }

  #bringToFront(windowId: string | null): void {
    this.#front = windowId;
    if (windowId !== null && !this.#panels.has(windowId)) this.#add(windowId);
    for (const [name, { element }] of this.#panels) element.hidden = name !== windowId;
    this.#tabs.select(windowId);
    this.#showNote();
  }

  #add(windowId: string): HTMLElement {
    const id = this.#panelId(windowId);
    const element = make('div', { className: 'jupyter-applet-panel', role: 'tabpanel', id });
    element.setAttribute('aria-labelledby', `${id}-tab`);
    const view = this.#options.makeView(windowId);
    element.append(view.element);
    this.element.append(element);
    this.#panels.set(windowId, { element, view });
    return element;
  }

  #remove(windowId: string): void {
    const panel = this.#panels.get(windowId);
    panel?.view.dispose();
    panel?.element.remove();
    this.#panels.delete(windowId);
  }

  #showNote(): void {
    if (this.#front === null) this.#say(EMPTY, 'status');
    else this.#note.remove();
  }

  #say(textContent: string, role: 'status' | 'alert'): void {
    Object.assign(this.#note, { textContent, role, className: 'jupyter-applet-desk-note' });
    this.#tabs.element.after(this.#note);
  }
}
