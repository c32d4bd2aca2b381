// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel } from '../src/channel/channel.js';
import type { Content, FromPage } from '../src/protocol.gen.js';
import { View } from '../src/view.js';
import { FakePipe } from './channel/fakes.js';

const tick = (): Promise<void> => Promise.resolve();
const outer = { postMessage: vi.fn() };

let pipe: FakePipe;
let view: View;
/** What the applet's document was sent, and the port to speak in its name. */
let posted: any[];
let port: MessagePort;

function open(): Channel {
  pipe = new FakePipe();
  const channel = new Channel({ session: 's', version: '0', id: 'page' }, pipe, () => {});
  pipe.events.opened();
  return channel;
}

/** What the outer frame says in the name of a document. */
const greet = (type: 'applet:hello' | 'applet:leaving'): boolean => window.dispatchEvent(Object.assign(new Event('message'), { source: outer, data: { type } }));

/** A document starts; what it is sent is written down. */
function start(): void {
  const own: any[] = [];
  posted = own;
  greet('applet:hello');
  port = outer.postMessage.mock.lastCall?.[2][0];
  port.onmessage = ({ data }) => own.push(...data);
}

/** Messages of a port take their time. */
const passed = (until: () => boolean): Promise<void> => vi.waitFor(() => expect(until()).toBe(true));

async function sent(): Promise<any[]> {
  await tick();
  return pipe.take().flat();
}
const types = async (): Promise<string[]> => (await sent()).map(({ type }) => type);

const tell = (fields: object = {}): void => pipe.events.received([{ type: 'windowContent', windowId: 'w', viewId: 'v', revision: 1, ...fields }]);
const frame = (): HTMLIFrameElement => view.element.querySelector('iframe') as HTMLIFrameElement;
const button = (label: string): HTMLButtonElement =>
  [...view.element.querySelectorAll('button')].find(({ textContent }) => textContent === label) as HTMLButtonElement;

/** What the document was made with. */
function config(): any {
  const inner = /srcdoc="([^]*)"><\/iframe>/.exec(frame().srcdoc)?.[1]?.replace(/&quot;/g, '"').replace(/&amp;/g, '&') ?? '';
  return JSON.parse(/\}\)\(({[^]*?})\)\/\/# sourceURL/.exec(inner)?.[1] ?? 'null');
}

function show(content: Content = { html: 'one' }, revision = 1): void {
  const channel = open();
  let current: Channel | null = channel;
  view = new View({
    viewId: 'v',
    windowId: 'w',
    revision,
    content,
    sdk: '',
    channel: () => {
      const given = current ?? open();
      current = null;
      return given;
    },
    fallBack: open,
    loadText: (name) => Promise.resolve(`text of ${name}`),
  });
  Object.defineProperty(frame(), 'contentWindow', { value: outer });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  outer.postMessage.mockReset();
});
afterEach(() => {
  view.dispose();
  vi.useRealTimers();
});

describe('a view loads', () => {
  it('when its host has answered, with the state that the host holds', async () => {
    show();
    expect([frame().hasAttribute('srcdoc'), view.element.textContent]).toEqual([false, 'Loading the applet…']);
    tell({ state: { n: 1 }, rev: 3 });
    expect(frame().srcdoc).toContain('one');
    expect(config()).toMatchObject({ state: { n: 1 } });
    expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'viewOpened' }, { type: 'stateSeen', windowId: 'w', viewId: 'v', rev: 3 }]);
  });

  it('what the host holds, when that is newer', async () => {
    show();
    tell({ revision: 2, content: { html: 'two', title: 'Two' } });
    expect(frame().srcdoc).toContain('two');
    expect([frame().title, view.state().revision]).toEqual(['Two', 2]);
  });

  it('what it has, when no host answers in 3 s, and then takes the answer as an update', async () => {
    show();
    vi.advanceTimersByTime(2999);
    expect(frame().hasAttribute('srcdoc')).toBe(false);
    vi.advanceTimersByTime(1);
    expect(frame().srcdoc).toContain('one');
    start();
    tell({ state: { n: 1 }, rev: 3 });
    await passed(() => posted.some(({ type }) => type === 'applet:state'));
    expect(posted.find(({ type }) => type === 'applet:state')).toEqual({ type: 'applet:state', data: { n: 1 }, rev: 3 });
  });

  it('nothing when there is nothing to load before the host answers', () => {
    show({}, 0);
    vi.advanceTimersByTime(60_000);
    expect(frame().hasAttribute('srcdoc')).toBe(false);
    tell({ revision: 7, content: { html: 'seven' } });
    expect(frame().srcdoc).toContain('seven');
  });

  it('once for the same word said twice, and again for another document', () => {
    show();
    tell();
    const first = frame().srcdoc;
    tell();
    tell({ content: { html: 'one', title: 'Another title' } });
    expect([frame().srcdoc, frame().title]).toEqual([first, 'Another title']);
    tell({ content: { html: 'other' } });
    expect(frame().srcdoc).toContain('other');
  });

  it('its lexer first, when its modules need one', async () => {
    show({ js: 'import "./util.js"', files: { 'util.js': { text: 'export {}' } } });
    tell();
    await passed(() => frame().hasAttribute('srcdoc'));
    expect(config()).toMatchObject({ lexer: 'text of lexer.js', files: { 'util.js': {} } });
  });
});

describe('state', () => {
  const set = (data: object): void => port.postMessage([{ type: 'applet:set-state', data }]);
  const setStates = (): FromPage[] => pipe.frames.flat().filter((message) => (message as FromPage).type === 'setState') as FromPage[];

  beforeEach(async () => {
    show();
    tell({ state: { a: 1 }, rev: 1 });
    start();
    await sent();
  });

  it('that the applet sets goes to the host, and is told of again with the view', async () => {
    set({ b: 2 });
    await passed(() => setStates().length > 0);
    expect(setStates()).toEqual([{ type: 'setState', windowId: 'w', viewId: 'v', data: { b: 2 } }]);
    expect(view.state().state).toEqual({ a: 1, b: 2 });
  });

  it('that is pushed goes to the applet, and the host hears when it was taken', async () => {
    pipe.events.received([{ type: 'stateUpdate', windowId: 'w', viewId: 'v', data: { a: 5 }, rev: 4 }]);
    await passed(() => posted.some(({ type }) => type === 'applet:state'));
    expect(await types()).toEqual([]);
    port.postMessage([{ type: 'applet:state-seen', rev: 4 }]);
    await passed(() => pipe.frames.length > 0);
    expect(await sent()).toEqual([{ type: 'stateSeen', windowId: 'w', viewId: 'v', rev: 4 }]);
  });

  it('that is pushed while no document runs is taken at once, and is in the next one', async () => {
    greet('applet:leaving');
    await sent();
    pipe.events.received([{ type: 'stateUpdate', windowId: 'w', viewId: 'v', data: { a: 5 }, rev: 4 }]);
    expect(await sent()).toEqual([{ type: 'stateSeen', windowId: 'w', viewId: 'v', rev: 4 }]);
    // The same document again, which was made with the old state.
    start();
    await passed(() => posted.some(({ type }) => type === 'applet:state'));
    expect(posted.find(({ type }) => type === 'applet:state').data).toEqual({ a: 5 });
  });

  it('that was pushed to a document which left is taken', async () => {
    pipe.events.received([{ type: 'stateUpdate', windowId: 'w', viewId: 'v', data: { a: 5 }, rev: 4 }]);
    greet('applet:leaving');
    expect(await types()).toEqual(['stateSeen', 'viewOpened']);
  });

  it('that was set during a cut is sent after the hello, as one, and wins over the host’s answer', async () => {
    pipe.events.lost();
    set({ a: 10, b: 1 });
    set({ b: 2 });
    await passed(() => view.state().state?.['b'] === 2);
    pipe.events.opened();
    expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'setState', data: { a: 10, b: 2 } }]);
    tell({ state: { a: 1, c: 3 }, rev: 9 });
    await passed(() => posted.some(({ type }) => type === 'applet:state'));
    expect(posted.find(({ type }) => type === 'applet:state')).toEqual({ type: 'applet:state', data: { c: 3 }, rev: 9 });
    expect(view.state().state).toEqual({ a: 10, b: 2, c: 3 });
    // After that the host knows better again.
    tell({ state: { a: 11 }, rev: 10 });
    expect(view.state().state).toMatchObject({ a: 11 });
  });

  it('is another one when another applet takes the window', () => {
    tell({ revision: 2, content: { html: 'two' }, state: { z: 1 }, rev: 5 });
    expect(view.state().state).toEqual({ z: 1 });
    expect(config().state).toEqual({ z: 1 });
  });
});

describe('a view whose window was closed', () => {
  beforeEach(async () => {
    show();
    tell();
    start();
    view.request([{ type: 'APP_PROTOCOL_REQUEST', requestId: 'r', windowId: 'w', request: { kind: 'query', stateKey: 'x' } }]);
    await types();
    pipe.events.received([{ type: 'windowClosed', windowId: 'w' }]);
  });

  it('answers what was asked, says farewell, and then nothing more, whatever its document does', async () => {
    expect(await types()).toEqual(['APP_PROTOCOL_RESPONSE', 'viewClosed']);
    greet('applet:leaving');
    greet('applet:hello');
    vi.advanceTimersByTime(5000);
    view.showContent(1, { html: 'one', title: 'Another title' });
    expect(await types()).toEqual([]);
    expect(view.element.textContent).toBe('This applet was closed.');
    pipe.events.opened();
    expect(pipe.take()).toMatchObject([[{ type: 'hello', views: [] }]]);
  });

  it('is open again with newer content, on a channel that is alive', async () => {
    vi.advanceTimersByTime(60_000);
    view.showContent(2, { html: 'two' });
    await tick();
    expect(pipe.take()).toMatchObject([[{ type: 'hello' }], [{ type: 'viewOpened', view: { viewId: 'v', revision: 2, ready: false } }]]);
    tell({ revision: 2 });
    expect(frame().srcdoc).toContain('two');
    greet('applet:hello');
    greet('applet:leaving');
    expect(await types()).toEqual(['viewOpened']);
  });
});

it('a view without a host says again, on another channel, what nobody heard, and waits there as long as that takes', async () => {
  show();
  pipe.events.lost();
  pipe.events.unreachable();
  await tick();
  expect(await types()).toEqual(['hello', 'viewOpened']);
  view.unreachable([{ type: 'interaction', windowId: 'w', content: 'early' }]);
  expect(await types()).toEqual(['hello', 'viewOpened', 'interaction']);
  tell();
  expect(frame().srcdoc).toContain('one');
});
void button;
