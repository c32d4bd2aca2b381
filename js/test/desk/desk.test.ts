// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import { Desk } from '../../src/desk/desk.js';
import type { View } from '../../src/view.js';
import { FakePipe } from '../channel/fakes.js';

let pipe: FakePipe;
let desk: Desk;
let made: string[];
let disposed: string[];

function open(): Channel {
  pipe = new FakePipe();
  const channel = new Channel({ session: 's', version: '0', id: 'page' }, pipe, () => {});
  pipe.events.opened();
  return channel;
}

/** A desk needs of a view that it can be shown and be gone. */
function makeView(windowId: string): View {
  made.push(windowId);
  const element = document.createElement('p');
  element.textContent = `view of ${windowId}`;
  return { element, dispose: () => disposed.push(windowId) } as unknown as View;
}

const info = (windowId: string, title = '', ready = false, shown = true) => ({ windowId, title, renderer: 'iframe', slug: '', revision: 1, ready, shown });
const tell = (names: string[], active: string | null = null): void =>
  pipe.events.received([{ type: 'windows', windows: names.map((name) => info(name)), active }]);
const sent = async (): Promise<any[]> => {
  await Promise.resolve();
  return pipe.take().flat();
};
const tabs = (): HTMLElement[] => [...desk.element.querySelectorAll<HTMLElement>('[role=tab]')];
const tab = (name: string): HTMLElement => tabs().find(({ textContent }) => textContent === name) as HTMLElement;
const selected = (): string[] => tabs().filter((tab) => tab.getAttribute('aria-selected') === 'true').map(({ textContent }) => textContent ?? '');
const shown = (): string[] =>
  [...desk.element.querySelectorAll<HTMLElement>('[role=tabpanel]')].filter(({ hidden }) => !hidden).map(({ textContent }) => textContent ?? '');
const flashing = (): string[] => tabs().filter((tab) => tab.parentElement?.hasAttribute('data-flash')).map(({ textContent }) => textContent ?? '');
const press = (key: string): boolean => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));

beforeEach(async () => {
  made = [];
  disposed = [];
  desk = new Desk({ channel: open, fallBack: open, makeView });
  document.body.append(desk.element);
  expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'watchWindows', watch: true }]);
});
afterEach(() => {
  desk.dispose();
  vi.restoreAllMocks();
});

describe('a desk', () => {
  it('says how applets come there when there are none', () => {
    expect(desk.element.textContent).toBe('Looking for applets…');
    tell([]);
    expect(desk.element.textContent).toContain('No applet is open.');
    tell(['a']);
    expect(desk.element.textContent).not.toContain('No applet');
  });

  it('shows the active window, and makes views of those that were shown only', () => {
    tell(['a', 'b', 'c'], 'b');
    expect([selected(), shown(), made, flashing()]).toEqual([['b'], ['view of b'], ['b'], []]);
  });

  it('hands the focus of a closed tab to the one in front, and otherwise leaves it where it is', () => {
    tell(['a', 'b', 'c'], 'b');
    tabs()[1]?.focus();
    tell(['a', 'c'], null);
    expect(document.activeElement?.textContent).toBe('c');
    (tabs()[0]?.nextElementSibling as HTMLElement).focus();
    tell(['c'], null);
    expect(document.activeElement?.textContent).toBe('c');
    (document.activeElement as HTMLElement).blur();
    tell(['c', 'd'], 'd');
    expect(document.activeElement).toBe(document.body);
  });

  it('names tabs by title or window, and says which are ready', () => {
    pipe.events.received([{ type: 'windows', windows: [info('a', 'Sheet', true), info('b')], active: 'a' }]);
    expect(tabs().map(({ textContent, title }) => [textContent, title])).toEqual([['Sheet', 'Sheet'], ['b', 'b']]);
    expect(tabs().map(({ parentElement }) => parentElement?.hasAttribute('data-ready'))).toEqual([true, false]);
    const panel = desk.element.querySelector('[role=tabpanel]');
    expect([tabs()[0]?.getAttribute('aria-controls'), panel?.getAttribute('aria-labelledby')]).toEqual([panel?.id, tabs()[0]?.id]);
  });

  it('loads out of sight what no view shows, so that it can answer', () => {
    pipe.events.received([{ type: 'windows', windows: [info('a', '', false, false), info('b')], active: 'b' }]);
    expect([shown(), made]).toEqual([['view of b'], ['a', 'b']]);
  });

  it('brings to the front what an agent has opened, and lets its tab flash', () => {
    tell(['a'], 'a');
    tell(['a', 'b'], 'b');
    expect([shown(), made, flashing()]).toEqual([['view of b'], ['a', 'b'], ['b']]);
  });

  it('stays where the person is when something else changes', async () => {
    tell(['a', 'b'], 'a');
    tab('b').click();
    expect(await sent()).toEqual([{ type: 'activate', windowId: 'b' }]);
    tell(['a', 'b', 'c'], 'a');
    expect(shown()).toEqual(['view of b']);
    tell(['a', 'b', 'c'], 'b');
    expect([shown(), flashing()]).toEqual([['view of b'], []]);
  });

  it('keeps what was shown alive, and lets go of what was closed', () => {
    tell(['a', 'b'], 'a');
    tab('b').click();
    tab('a').click();
    expect([made, disposed]).toEqual([['a', 'b'], []]);
    tell(['b'], null);
    expect([disposed, shown()]).toEqual([['a'], ['view of b']]);
    tell([], null);
    expect([disposed, shown()]).toEqual([['a', 'b'], []]);
    expect(desk.element.textContent).toContain('No applet is open.');
  });

  it('closes a window by its button, by the middle button and by a key', async () => {
    tell(['a', 'b', 'c'], 'a');
    (tab('a').nextElementSibling as HTMLElement).click();
    tab('b').dispatchEvent(new MouseEvent('auxclick', { button: 1, bubbles: true }));
    tab('c').focus();
    press('Delete');
    expect(await sent()).toEqual(['a', 'b', 'c'].map((windowId) => ({ type: 'closeWindow', windowId })));
    expect((tab('a').nextElementSibling as HTMLElement).title).toBe('Close a');
  });

  it('is driven by the arrow keys, Home and End', () => {
    tell(['a', 'b', 'c'], 'a');
    tab('a').focus();
    const way = ['ArrowRight', 'ArrowLeft', 'ArrowLeft', 'ArrowRight', 'End', 'Home'].map((key) => (press(key), selected()[0]));
    expect(way).toEqual(['b', 'a', 'c', 'a', 'c', 'a']);
    expect(tabs().map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1]);
  });

  it('keeps the focus where it is when windows come and go', () => {
    tell(['a', 'b', 'c'], 'b');
    tab('b').focus();
    const focused = document.activeElement;
    tell(['x', 'c', 'b'], 'b');
    expect(document.activeElement).toBe(focused);
    expect(tabs().map(({ textContent }) => textContent)).toEqual(['x', 'c', 'b']);
  });

  it('asks again after a cut, and elsewhere when nobody is there', async () => {
    pipe.events.lost();
    pipe.events.opened();
    expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'watchWindows', watch: true }]);
    pipe.events.unreachable();
    expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'watchWindows', watch: true }]);
  });

  it('says why the host will not talk to it', () => {
    pipe.events.received([{ type: 'error', code: 'PROTOCOL_MISMATCH', message: 'Upgrade the server.' }]);
    expect(desk.element.querySelector('[role=alert]')?.textContent).toBe('Upgrade the server.');
  });

  it('says that it no longer looks when it goes', async () => {
    desk.dispose();
    expect(await sent()).toEqual([{ type: 'watchWindows', watch: false }]);
  });
});
