import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import { PROTOCOL, type FromPage } from '../../src/protocol.gen.js';
import { FakePipe, FakeView } from './fakes.js';

const tick = (): Promise<void> => Promise.resolve();
const interaction = (content: string): FromPage => ({ type: 'interaction', windowId: 'w', content });
const query = (requestId: string, windowId = 'w', viewId?: string) => ({
  type: 'APP_PROTOCOL_REQUEST',
  requestId,
  windowId,
  request: { kind: 'query', stateKey: 'x' },
  ...(viewId ? { viewId } : {}),
});

let pipe: FakePipe;
let channel: Channel;
let ended: ReturnType<typeof vi.fn<() => void>>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  pipe = new FakePipe();
  ended = vi.fn<() => void>();
  channel = new Channel({ session: 's', version: '0.1.0', id: 'page' }, pipe, ended);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('hello', () => {
  it('announces the page and every view as it is now, again after a cut', () => {
    const view = new FakeView('v', 'w', { document: 1 });
    channel.attach(view);
    pipe.events.opened();
    const hello = { type: 'hello', protocol: PROTOCOL, version: '0.1.0', role: 'page', session: 's', id: 'page' };
    expect(pipe.take()).toEqual([[{ ...hello, views: [{ viewId: 'v', windowId: 'w', document: 1 }] }]]);
    pipe.events.lost();
    view.fields.ready = true;
    pipe.events.opened();
    expect(pipe.take()).toEqual([[{ ...hello, views: [{ viewId: 'v', windowId: 'w', document: 1, ready: true }] }]]);
  });

  describe('says of a document that it is settled', () => {
    const settled = (): unknown[] => {
      pipe.take();
      pipe.events.opened();
      return pipe.take()[0]?.[0].views.map((view: { settled?: boolean }) => view.settled);
    };
    let view: FakeView;

    beforeEach(() => {
      view = new FakeView('v', 'w', { document: 1 });
      channel.attach(view);
    });

    it('when a hello before said that it was ready', () => {
      view.fields.ready = true;
      expect(settled()).toEqual([undefined]);
      pipe.events.lost();
      expect(settled()).toEqual([true]);
      pipe.events.lost();
      view.fields.document = 2;
      expect(settled()).toEqual([undefined]);
    });

    it('when it became ready, or was opened as ready, while the pipe was up', async () => {
      pipe.events.opened();
      view.fields.ready = true;
      channel.send([{ type: 'APP_PROTOCOL_READY', windowId: 'w', viewId: 'v', document: 1 }]);
      channel.attach(new FakeView('v2', 'w', { document: 1, ready: true }));
      await tick();
      expect(settled()).toEqual([true, true]);
    });

    it('not when the word was never sent, or the document is not ready any more', async () => {
      channel.send([{ type: 'APP_PROTOCOL_READY', windowId: 'w', viewId: 'v', document: 1 }]);
      pipe.events.opened();
      channel.send([{ type: 'APP_PROTOCOL_READY', windowId: 'w', viewId: 'v', document: 1 }]);
      pipe.events.lost();
      await tick();
      view.fields.ready = true;
      expect(settled()).toEqual([undefined]);
      view.fields.ready = false;
      expect(settled()).toEqual([undefined]);
    });
  });

  it('leaves the snapshots out when they would make it too large', () => {
    pipe.events.opened();
    pipe.events.received([{ type: 'welcome', maxMessageBytes: 3000 }]);
    channel.attach(new FakeView('v', 'w', { snapshot: { text: 'x'.repeat(2000) } }));
    pipe.take();
    pipe.events.opened();
    expect(pipe.take()[0]).toMatchObject([{ type: 'hello', views: [{ viewId: 'v', snapshot: null }] }]);
  });

  it('is said by the whole page, whatever one of its applets holds', () => {
    const circle: Record<string, any> = {};
    circle['own'] = circle;
    channel.attach(new FakeView('good', 'g', { state: { n: 1 } }));
    channel.attach(new FakeView('big', 'b', { state: { n: 1n as any }, title: 'Big' }));
    channel.attach(new FakeView('round', 'r', { snapshot: circle }));
    pipe.events.opened();
    const views = [{ viewId: 'good', state: { n: 1 } }, { viewId: 'big', state: null, title: 'Big' }, { viewId: 'round', snapshot: null }];
    expect(pipe.take()[0]).toMatchObject([{ type: 'hello', views }]);
  });

  it('that is refused for its protocol is shown in every view, and not said again', () => {
    const view = new FakeView('v', 'w');
    channel.attach(view);
    pipe.events.opened();
    pipe.events.received([{ type: 'error', code: 'PROTOCOL_MISMATCH', message: 'Upgrade the server.' }]);
    expect(view.told).toEqual([['refusal', 'Upgrade the server.']]);
    expect(pipe.stopped).toBe(true);
    const late = new FakeView('late', 'w');
    channel.attach(late);
    expect(late.told).toEqual([['refusal', 'Upgrade the server.']]);
  });
});

describe('what is sent', () => {
  it('goes in one frame for all of one tick', async () => {
    pipe.events.opened();
    pipe.take();
    channel.attach(new FakeView('v', 'w'));
    channel.send([interaction('1'), interaction('2')]);
    channel.detach('v');
    await tick();
    expect(pipe.take().map((frame) => frame.map(({ type }) => type))).toEqual([['viewOpened', 'interaction', 'interaction', 'viewClosed']]);
  });

  it('while the pipe is down is kept, when a hello does not say it again', async () => {
    channel.attach(new FakeView('v', 'w'));
    channel.send([interaction('early'), { type: 'APP_PROTOCOL_READY', windowId: 'w' }]);
    pipe.events.opened();
    await tick();
    expect(pipe.take().map((frame) => frame.map(({ type }) => type))).toEqual([['hello'], ['interaction']]);
  });

  it('in the tick in which the pipe went down is kept too', async () => {
    pipe.events.opened();
    channel.send([interaction('cut')]);
    pipe.events.lost();
    await tick();
    pipe.take();
    pipe.events.opened();
    expect(pipe.take()[1]).toEqual([interaction('cut')]);
  });
});

describe('requests', () => {
  it('of one frame reach a view as one batch, in order', () => {
    const [a, b] = [new FakeView('a', 'w'), new FakeView('b', 'other')];
    channel.attach(a);
    channel.attach(b);
    pipe.events.received([query('1', 'w', 'a'), query('2', 'other', 'b'), query('3', 'w', 'a')]);
    expect(a.batches.map((batch) => batch.map(({ requestId }) => requestId))).toEqual([['1', '3']]);
    expect(b.batches.map((batch) => batch.map(({ requestId }) => requestId))).toEqual([['2']]);
  });

  it('stay in order with the other messages of the frame', () => {
    const view = new FakeView('v', 'w');
    channel.attach(view);
    const order: string[] = [];
    view.request = (batch) => order.push(...batch.map(({ requestId }) => requestId));
    view.showWindow = ({ revision }) => order.push(`revision ${revision}`);
    pipe.events.received([query('1'), { type: 'windowContent', windowId: 'w', revision: 2, content: {} }, query('2')]);
    expect(order).toEqual(['1', 'revision 2', '2']);
  });

  it('go to another view of the window when theirs is gone, and are answered when there is none', async () => {
    const other = new FakeView('other', 'w');
    channel.attach(other);
    pipe.events.opened();
    pipe.take();
    pipe.events.received([query('1', 'w', 'gone'), query('2', 'nowhere')]);
    await tick();
    expect(other.batches).toHaveLength(1);
    expect(pipe.take()).toEqual([
      [
        {
          type: 'APP_PROTOCOL_RESPONSE',
          requestId: '2',
          windowId: 'nowhere',
          response: { kind: 'query', data: null, error: "This page no longer shows window 'nowhere'.", code: 'VIEW_GONE' },
        },
      ],
    ]);
  });
});

describe('what a host says', () => {
  it('of a window reaches all its views', () => {
    const views = [new FakeView('a', 'w'), new FakeView('b', 'w'), new FakeView('c', 'other')];
    for (const view of views) channel.attach(view);
    pipe.events.received([{ type: 'windowContent', windowId: 'w', revision: 3, content: { html: 'x' } }, { type: 'windowClosed', windowId: 'w' }]);
    const told = [['content', 3, { html: 'x' }], ['closed']];
    expect(views.map((view) => view.told)).toEqual([told, told, []]);
  });

  it('of one view reaches that view', () => {
    const views = [new FakeView('a', 'w'), new FakeView('b', 'w')];
    for (const view of views) channel.attach(view);
    pipe.events.received([
      { type: 'windowContent', windowId: 'w', viewId: 'b', revision: 3 },
      { type: 'stateUpdate', windowId: 'w', viewId: 'a', data: { n: 1 }, rev: 2 },
      { type: 'contentChunk', windowId: 'w', revision: 3, at: 0, html: '<p>' },
    ]);
    const chunk = ['chunk', 0, '<p>'];
    expect(views.map((view) => view.told)).toEqual([[['state', { n: 1 }, 2], chunk], [['content', 3, undefined], chunk]]);
  });

  it('of a question that it refuses, or that a cut leaves open, rejects it', async () => {
    await expect(channel.ask({ type: 'readFile', path: 'a' })).rejects.toMatchObject({ code: 'LINK_LOST' });
    pipe.events.opened();
    const asked = [channel.ask({ type: 'readFile', path: 'a' }), channel.ask({ type: 'readFile', path: 'b' })];
    const settled = Promise.allSettled(asked);
    await tick();
    const [, [{ id }]] = pipe.take() as [unknown, any[]];
    pipe.events.received([{ type: 'error', id, code: 'FILE_MISSING', message: 'No.' }]);
    pipe.events.lost();
    expect(await settled).toMatchObject([{ reason: { code: 'FILE_MISSING', message: 'No.' } }, { reason: { code: 'LINK_LOST' } }]);
  });

  it.each([null, 1, 'x', [], {}, { type: 'nonsense' }, { type: 'welcome' }, { type: 'windowContent', windowId: 'w', revision: 1, content: 5 },
    { type: 'windowContent', windowId: 'w', revision: 1, content: { html: 5 } }, { type: 'windowClosed' }, { type: 'APP_PROTOCOL_REQUEST' },
    { ...query('1'), request: { kind: 'nonsense' } }, { ...query('1'), request: { kind: 'query' } }, { ...query('1'), windowId: 5 }])(
    'of the wrong shape (%j) is dropped, with one warning',
    (message) => {
      const view = new FakeView('v', 'w');
      channel.attach(view);
      pipe.events.received([message, message]);
      expect([view.batches, view.told]).toEqual([[], []]);
      expect(console.warn).toHaveBeenCalledTimes(1);
    },
  );
});

describe('the end', () => {
  it('comes when no view was there for 30 s', () => {
    channel.attach(new FakeView('v', 'w'));
    vi.advanceTimersByTime(60_000);
    channel.detach('v');
    vi.advanceTimersByTime(29_000);
    channel.attach(new FakeView('v2', 'w'));
    vi.advanceTimersByTime(60_000);
    expect(pipe.stopped).toBe(false);
    channel.detach('v2');
    vi.advanceTimersByTime(30_000);
    expect(pipe.stopped).toBe(true);
    expect(ended).toHaveBeenCalledOnce();
  });

  it('does not come while a desk looks', () => {
    const desk = { showWindows: () => {}, showRefusal: () => {}, unreachable: () => {} };
    channel.watch(desk);
    vi.advanceTimersByTime(60_000);
    expect(pipe.stopped).toBe(false);
    channel.unwatch(desk);
    vi.advanceTimersByTime(30_000);
    expect(pipe.stopped).toBe(true);
  });

  it('of a channel with nobody behind it sends its views elsewhere', () => {
    const view = new FakeView('v', 'w');
    channel.attach(view);
    pipe.events.unreachable();
    expect(view.told).toEqual([['unreachable', []]]);
    expect(ended).toHaveBeenCalledOnce();
  });

  it('of such a channel hands on what its views have said, once', () => {
    const views = [new FakeView('a', 'w'), new FakeView('b', 'w'), new FakeView('c', 'other')];
    for (const view of views) channel.attach(view);
    const lines: FromPage = { type: 'console', windowId: 'other', entries: [] };
    const snapshot: FromPage = { type: 'snapshot', windowId: 'w', viewId: 'b', state: {} };
    channel.send([interaction('1'), lines, snapshot, interaction('2')]);
    pipe.events.unreachable();
    const kept = [[interaction('1'), interaction('2')], [snapshot], [lines]];
    expect(views.map((view) => view.told)).toEqual(kept.map((messages) => [['unreachable', messages]]));
    expect(pipe.take()).toEqual([]);
  });

  it('of a page is told at once, and is none when the page is brought back', () => {
    const view = new FakeView('v', 'w', { document: 1, ready: true });
    channel.attach(view);
    pipe.events.opened();
    channel.send([interaction('last')]);
    pipe.take();
    pipe.events.leaving();
    expect(pipe.take()).toEqual([[interaction('last'), { type: 'viewClosed', viewId: 'v' }]]);
    pipe.events.opened();
    expect(pipe.take()).toMatchObject([[{ type: 'hello', views: [{ viewId: 'v', settled: true }] }]]);
  });
});
