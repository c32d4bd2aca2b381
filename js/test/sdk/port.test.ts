// @vitest-environment happy-dom
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Port } from '../../src/sdk/port.js';

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** A port that refuses, as a browser does, what cannot be cloned. */
class FakePort {
  batches: unknown[][] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  postMessage(batch: unknown[]): void {
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
