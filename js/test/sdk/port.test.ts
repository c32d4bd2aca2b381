// @vitest-environment happy-dom
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Port } from '../../src/sdk/port.js';

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** A port that refuses, as a browser does, what cannot be cloned. */
class FakePort {
  batches: unknown[][] = [];
  transferred: unknown[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  postMessage(batch: unknown[], transfer: unknown[] = []): void {
    this.transferred = transfer;
    this.batches.push(structuredClone(batch));
  }
}

// One for all tests, as a document has one: it takes every handover of its window.
const far = new FakePort();
const port = new Port();
let heard: unknown[];

beforeAll(() => {
  port.connect('k', (message) => {
    if (message === 'bad') throw new Error('bad');
    heard.push(message);
  });
  window.dispatchEvent(Object.assign(new Event('message'), { source: window.parent, data: { type: 'applet:port' }, ports: [far] }));
});
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.stubGlobal('reportError', vi.fn());
  far.batches = [];
  heard = [];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it('a message that cannot be handled is reported, and does not stop those after it', () => {
  far.onmessage?.({ data: ['a', 'bad', 'b'] });
  expect(heard).toEqual(['a', 'b']);
  expect(reportError).toHaveBeenCalledOnce();
});

it('bytes are handed over with the batch that they are in', async () => {
  const content = new ArrayBuffer(1);
  port.send({ type: 'applet:call', id: 1, method: 'writeFile', args: { content } }, [content]);
  port.send({ type: 'applet:size', height: 1 });
  await tick();
  expect([far.batches.length, far.transferred]).toEqual([1, [content]]);
});

it('what waits when the document goes away is sent before the farewell', () => {
  const order: string[] = [];
  vi.spyOn(window.parent, 'postMessage').mockImplementation(({ type }: any) => void order.push(type));
  vi.spyOn(far, 'postMessage').mockImplementation((batch: any[]) => void order.push(...batch.map(({ type }) => type)));
  port.send({ type: 'applet:set-state', data: {} });
  port.leave();
  expect(order).toEqual(['applet:set-state', 'applet:leaving']);
});

it('what waits for the page is bounded, but for what someone waits for', () => {
  const waiting = new Port();
  waiting.send({ type: 'applet:call', id: 1, method: 'listFiles', args: {} });
  for (let height = 0; height < 1500; height += 1) waiting.send({ type: 'applet:size', height });
  const page = new FakePort();
  waiting.attach(page);
  waiting.leave();
  expect(page.batches[0]).toHaveLength(1000);
  expect(page.batches[0]?.slice(0, 2)).toMatchObject([{ id: 1 }, { height: 501 }]);
});

describe('a message that cannot be cloned', () => {
  const said = (content: unknown) => ({ type: 'yaar:app-interaction', content }) as never;

  it('is dropped with a warning, alone', async () => {
    for (const content of ['a', () => 1, 'b']) port.send(said(content));
    await tick();
    expect(far.batches).toEqual([[said('a')], [said('b')]]);
    expect(console.warn).toHaveBeenCalledOnce();
  });

  it('and is a response is sent as one that says so', async () => {
    port.send({ type: 'yaar:app-query-response', requestId: 'r', data: () => 1, error: null });
    await tick();
    const error = expect.stringMatching(/^The result cannot be sent as JSON: DataCloneError/);
    expect(far.batches).toEqual([[{ type: 'yaar:app-query-response', requestId: 'r', error, code: 'RESULT_NOT_JSON' }]]);
  });
});
