// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shared } from '../src/channel/shared.js';
import type { Content, FromPage } from '../src/protocol.gen.js';
import { greet, passed, Viewing } from './viewing.js';

let page: Viewing;

const show = (content?: Content, revision?: number, patience?: number): void => {
  page = new Viewing(content, revision, patience);
};

beforeEach(() => {
  shared().ran.clear();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  page.view.dispose();
  vi.useRealTimers();
});

describe('a view loads', () => {
  it('when its host has answered, with the state that the host holds', async () => {
    show();
    expect([page.frame.hasAttribute('srcdoc'), page.view.element.textContent]).toEqual([false, 'Loading the applet…']);
    page.tell({ state: { n: 1 }, rev: 3 });
    expect(page.frame.srcdoc).toContain('one');
    expect(page.config).toMatchObject({ state: { n: 1 } });
    expect(await page.sent()).toMatchObject([{ type: 'hello' }, { type: 'viewOpened' }, { type: 'stateSeen', windowId: 'w', viewId: 'v', rev: 3 }]);
  });

  it('what the host holds, when that is newer', async () => {
    show();
    page.tell({ revision: 2, content: { html: 'two', title: 'Two' } });
    expect(page.frame.srcdoc).toContain('two');
    expect([page.frame.title, page.view.state().revision]).toEqual(['Two', 2]);
  });

  it('nothing before its server has said whether it may run, however long that takes', () => {
    show({ html: 'one', permissions: { network: ['https://example.org'] } });
    vi.advanceTimersByTime(2999);
    expect(page.view.element.textContent).toBe('Loading the applet…');
    vi.advanceTimersByTime(1);
    expect(page.view.element.textContent).toBe('Waiting for the server…');
    vi.advanceTimersByTime(600_000);
    expect(page.frame.hasAttribute('srcdoc')).toBe(false);
    page.tell({ run: 'ask' });
    vi.advanceTimersByTime(300);
    expect([page.frame.hasAttribute('srcdoc'), Boolean(page.button('Run'))]).toEqual([false, true]);
  });

  it('what it has, when a kernel is busy for longer than its pipe waits, and then takes the answer as an update', async () => {
    show(undefined, undefined, 500);
    vi.advanceTimersByTime(499);
    expect(page.frame.hasAttribute('srcdoc')).toBe(false);
    vi.advanceTimersByTime(1);
    expect(page.frame.srcdoc).toContain('one');
    page.start();
    page.tell({ state: { n: 1 }, rev: 3 });
    expect(await page.gets('applet:state')).toEqual({ type: 'applet:state', data: { n: 1 }, rev: 3 });
  });

  it('nothing when there is nothing to load before the host answers', () => {
    show({}, 0);
    vi.advanceTimersByTime(60_000);
    expect(page.frame.hasAttribute('srcdoc')).toBe(false);
    page.tell({ revision: 7, content: { html: 'seven' } });
    expect(page.frame.srcdoc).toContain('seven');
  });

  it('once for the same word said twice, and again for another document', () => {
    show();
    page.tell();
    const first = page.frame.srcdoc;
    page.tell();
    page.tell({ content: { html: 'one', title: 'Another title' } });
    expect([page.frame.srcdoc, page.frame.title]).toEqual([first, 'Another title']);
    page.tell({ content: { html: 'other' } });
    expect(page.frame.srcdoc).toContain('other');
  });

  it('its lexer first, when its modules need one', async () => {
    show({ js: 'import "./util.js"', files: { 'util.js': { text: 'export {}' } } });
    page.tell();
    await passed(() => page.frame.hasAttribute('srcdoc'));
    expect(page.config).toMatchObject({ lexer: 'text of lexer.js', files: { 'util.js': {} } });
  });
});

describe('state', () => {
  const set = (data: object): void => page.say({ type: 'applet:set-state', data });
  const setStates = (): FromPage[] => page.pipe.frames.flat().filter((message) => (message as FromPage).type === 'setState') as FromPage[];

  beforeEach(async () => {
    show();
    page.tell({ state: { a: 1 }, rev: 1 });
    page.start();
    await page.sent();
  });

  it('that the applet sets goes to the host, and is told of again with the view', async () => {
    set({ b: 2 });
    await passed(() => setStates().length > 0);
    expect(setStates()).toEqual([{ type: 'setState', id: 'p1', windowId: 'w', viewId: 'v', data: { b: 2 }, revision: 1 }]);
    expect(page.view.state().state).toEqual({ a: 1, b: 2 });
  });

  it('that no JSON can say is not taken, and the page goes on speaking', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    set({ big: 10n });
    set({ b: 2 });
    await passed(() => setStates().length > 0);
    expect(page.view.state().state).toEqual({ a: 1, b: 2 });
    page.pipe.events.lost();
    page.pipe.take();
    page.pipe.events.opened();
    expect(page.pipe.take()[0]).toMatchObject([{ type: 'hello', views: [{ viewId: 'v', state: { a: 1, b: 2 } }] }]);
    vi.restoreAllMocks();
  });

  it('that is pushed goes to the applet, and the host hears when it was taken', async () => {
    page.hear({ type: 'stateUpdate', windowId: 'w', viewId: 'v', data: { a: 5 }, rev: 4 });
    await page.gets('applet:state');
    expect(await page.types()).toEqual([]);
    page.say({ type: 'applet:state-seen', rev: 4 });
    await passed(() => page.pipe.frames.length > 0);
    expect(await page.sent()).toEqual([{ type: 'stateSeen', windowId: 'w', viewId: 'v', rev: 4 }]);
  });

  it('that is pushed while no document runs is taken at once, and is in the next one', async () => {
    greet('applet:leaving');
    await page.sent();
    page.hear({ type: 'stateUpdate', windowId: 'w', viewId: 'v', data: { a: 5 }, rev: 4 });
    expect(await page.sent()).toEqual([{ type: 'stateSeen', windowId: 'w', viewId: 'v', rev: 4 }]);
    // The same document again, which was made with the old state.
    page.start();
    expect((await page.gets('applet:state')).data).toEqual({ a: 5 });
  });

  it('that was pushed to a document which left is taken', async () => {
    page.hear({ type: 'stateUpdate', windowId: 'w', viewId: 'v', data: { a: 5 }, rev: 4 });
    greet('applet:leaving');
    expect(await page.types()).toEqual(['stateSeen', 'viewOpened']);
  });

  it('that was set during a cut is sent after the hello, as one, and wins over the host’s answer', async () => {
    page.pipe.events.lost();
    set({ a: 10, b: 1 });
    set({ b: 2 });
    await passed(() => page.view.state().state?.['b'] === 2);
    page.pipe.events.opened();
    expect(await page.sent()).toMatchObject([{ type: 'hello' }, { type: 'setState', data: { a: 10, b: 2 } }]);
    page.tell({ state: { a: 1, c: 3 }, rev: 9 });
    expect(await page.gets('applet:state')).toEqual({ type: 'applet:state', data: { c: 3 }, rev: 9 });
    expect(page.view.state().state).toEqual({ a: 10, b: 2, c: 3 });
    // It is told again, and when the host has it, the host knows better.
    const again = await page.next('setState');
    expect(again.data).toEqual({ a: 10, b: 2 });
    page.hear({ type: 'result', id: again.id });
    await passed(() => {
      page.tell({ state: { a: 11 }, rev: 10 });
      return page.view.state().state?.['a'] === 11;
    });
  });

  it('that was on its way when the connection was cut is sent again', async () => {
    set({ b: 2 });
    await page.next('setState');
    page.pipe.events.lost();
    await Promise.resolve();
    page.pipe.events.opened();
    expect(await page.sent()).toMatchObject([{ type: 'hello' }, { type: 'setState', data: { b: 2 } }]);
    page.tell({ state: { a: 1, b: 0 }, rev: 9 });
    expect(page.view.state().state).toEqual({ a: 1, b: 2 });
  });

  it('is another one when another applet takes the window', () => {
    page.tell({ revision: 2, content: { html: 'two' }, state: { z: 1 }, rev: 5 });
    expect(page.view.state().state).toEqual({ z: 1 });
    expect(page.config.state).toEqual({ z: 1 });
  });
});

describe('a view whose window was closed', () => {
  beforeEach(async () => {
    show();
    page.tell();
    page.start();
    page.view.request([{ type: 'APP_PROTOCOL_REQUEST', requestId: 'r', windowId: 'w', request: { kind: 'query', stateKey: 'x' } }]);
    await page.types();
    page.hear({ type: 'windowClosed', windowId: 'w' });
  });

  it('answers what was asked, says farewell, and then nothing more, whatever its document does', async () => {
    expect(await page.types()).toEqual(['APP_PROTOCOL_RESPONSE', 'viewClosed']);
    greet('applet:leaving');
    greet('applet:hello');
    vi.advanceTimersByTime(5000);
    page.view.showContent(1, { html: 'one', title: 'Another title' });
    expect(await page.types()).toEqual([]);
    expect(page.view.element.textContent).toBe('This applet was closed.');
    page.pipe.events.opened();
    expect(page.pipe.take()).toMatchObject([[{ type: 'hello', views: [] }]]);
  });

  it('is open again with newer content, on a channel that is alive', async () => {
    vi.advanceTimersByTime(60_000);
    page.view.showContent(2, { html: 'two' });
    await Promise.resolve();
    expect(page.pipe.take()).toMatchObject([[{ type: 'hello' }], [{ type: 'viewOpened', view: { viewId: 'v', revision: 2, ready: false } }]]);
    page.tell({ revision: 2 });
    expect(page.frame.srcdoc).toContain('two');
    greet('applet:hello');
    greet('applet:leaving');
    expect(await page.types()).toEqual(['viewOpened']);
  });
});

it('a view without a host says again, on another channel, what nobody heard, and waits there as long as that takes', async () => {
  show();
  page.pipe.events.lost();
  page.pipe.events.unreachable();
  await Promise.resolve();
  expect(await page.types()).toEqual(['hello', 'viewOpened']);
  page.view.unreachable([{ type: 'interaction', windowId: 'w', content: 'early' }]);
  expect(await page.types()).toEqual(['hello', 'viewOpened', 'interaction']);
  page.tell();
  expect(page.frame.srcdoc).toContain('one');
});
