// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel } from '../src/channel/channel.js';
import { View } from '../src/view.js';
import { FakePipe } from './channel/fakes.js';

const tick = (): Promise<void> => Promise.resolve();
const outer = { postMessage: vi.fn() };

let pipe: FakePipe;
let view: View;

function open(): Channel {
  pipe = new FakePipe();
  const channel = new Channel({ session: 's', version: '0', id: 'page' }, pipe, () => {});
  pipe.events.opened();
  return channel;
}

/** What the outer frame says in the name of a document. */
const greet = (type: 'applet:hello' | 'applet:leaving'): boolean => window.dispatchEvent(Object.assign(new Event('message'), { source: outer, data: { type } }));

async function types(): Promise<string[]> {
  await tick();
  return pipe.take().flat().map(({ type }) => type);
}

beforeEach(() => {
  vi.useFakeTimers();
  const channel = open();
  let current: Channel | null = channel;
  view = new View({
    viewId: 'v',
    windowId: 'w',
    revision: 1,
    content: { html: 'one' },
    sdk: '',
    channel: () => {
      const given = current ?? open();
      current = null;
      return given;
    },
    fallBack: open,
    permit: () => {},
  });
  Object.defineProperty(view.element.querySelector('iframe'), 'contentWindow', { value: outer });
  greet('applet:hello');
});
afterEach(() => {
  view.dispose();
  vi.useRealTimers();
});

describe('a view whose window was closed', () => {
  beforeEach(async () => {
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
    greet('applet:hello');
    greet('applet:leaving');
    expect(await types()).toEqual(['viewOpened']);
  });
});

it('a view without a host says again, on another channel, what nobody heard', async () => {
  pipe.events.lost();
  pipe.events.unreachable();
  await tick();
  expect(await types()).toEqual(['hello', 'viewOpened']);
  view.unreachable([{ type: 'interaction', windowId: 'w', content: 'early' }]);
  expect(await types()).toEqual(['hello', 'viewOpened', 'interaction']);
});
