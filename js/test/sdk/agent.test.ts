// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FromAgentSdk } from '../../src/agent/words.js';
import { agentLoader, installEventSource } from '../../src/sdk/agent.js';
import { EventParser } from '../../src/sdk/agent/events.js';
import { type AgentSdk, open } from '../../src/sdk/agent/index.js';
import { type Call, CallError } from '../../src/sdk/calls.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the page has heard. */
let heard: any[];
let far: MessagePort;
let sdk: AgentSdk;

const next = async (type: FromAgentSdk['type'], count = 1): Promise<any> => {
  await vi.waitFor(() => expect(heard.filter((word) => word.type === type).length).toBeGreaterThanOrEqual(count));
  return heard.filter((word) => word.type === type)[count - 1];
};
const tell = (word: object): void => far.postMessage(word);

beforeEach(() => {
  heard = [];
  const { port1, port2 } = new MessageChannel();
  sdk = open(port1);
  far = port2;
  far.onmessage = ({ data }) => heard.push(data);
  vi.stubGlobal('reportError', vi.fn());
});
afterEach(() => {
  far.close();
  vi.unstubAllGlobals();
});

describe('invokeAgent', () => {
  it.each([undefined, '', '  ', 5, null, {}])('takes no prompt like %j', async (prompt) => {
    await expect(sdk.invoke(prompt)).rejects.toThrow(new TypeError('invokeAgent: the prompt must be a text that is not empty.'));
  });

  it.each<[object, RegExp]>([
    [{ sesion: 'new' }, /no option 'sesion'. There are session, showInChat, .*onDelta, onStatus, signal, imageData/],
    [{ __proto__: null, constructor: 1 }, /no option 'constructor'/],
    [{ session: '' }, /session must be 'active'/],
    [{ session: 5 }, /session must be/],
    [{ showInChat: 'yes' }, /showInChat must be true or false/],
    [{ timeout: 0 }, /timeout must be a positive number/],
    [{ timeout: Infinity }, /timeout must be a positive number/],
    [{ expectState: 'total' }, /expectState must be a list/],
    [{ onDelta: {} }, /onDelta must be a function/],
    [{ signal: {} }, /signal must be an AbortController's signal/],
    [{ imageData: 'https://example.com/a.png' }, /imageData must be a data URL/],
    [[], /options must be an object/],
  ])('takes no options like %j', async (options, message) => {
    await expect(sdk.invoke('Hi', options)).rejects.toThrow(TypeError);
    await expect(sdk.invoke('Hi', options)).rejects.toThrow(message);
    expect(heard).toEqual([]);
  });

  it('sends what is the host’s, tells what comes, and resolves to the result', async () => {
    const told: unknown[] = [];
    const options = { session: 'new', showInChat: false, timeout: 500, expectState: ['n'], background: undefined, imageData: 'data:image/png;base64,AA==' };
    const onDelta = (...args: unknown[]): void => {
      told.push(args);
      throw new Error('the applet’s own');
    };
    const result = sdk.invoke('Hi', { ...options, onDelta, onStatus: (status: unknown) => told.push(status) });
    const { id, ...asked } = await next('invoke');
    expect(asked).toEqual({
      ...{ type: 'invoke', prompt: 'Hi', imageData: 'data:image/png;base64,AA==' },
      options: { session: 'new', showInChat: false, timeout: 500, expectState: ['n'] },
    });
    tell({ type: 'status', id, status: 'queued', message: 'Behind a cell.' });
    tell({ type: 'delta', id, delta: 'a' });
    tell({ type: 'delta', id, delta: 'b' });
    tell({ type: 'end', id, value: { text: 'ab' } });
    expect(await result).toEqual({ text: 'ab' });
    expect(told).toEqual([{ status: 'queued', message: 'Behind a cell.' }, ['a', 'a'], ['b', 'ab']]);
  });

  it('rejects with the host’s code', async () => {
    const result = sdk.invoke('Hi');
    tell({ type: 'end', id: (await next('invoke')).id, error: 'There is no agent.', code: 'NO_AGENT' });
    await expect(result).rejects.toMatchObject({ message: 'There is no agent.', code: 'NO_AGENT' });
  });

  it('is cancelled by its signal, before and on the way', async () => {
    const abort = new AbortController();
    const result = sdk.invoke('Hi', { signal: abort.signal });
    const { id } = await next('invoke');
    abort.abort();
    await expect(result).rejects.toMatchObject({ name: 'AbortError', code: 'CANCELLED' });
    expect(await next('cancel')).toEqual({ type: 'cancel', id });
    await expect(sdk.invoke('Hi', { signal: abort.signal })).rejects.toMatchObject({ name: 'AbortError', code: 'CANCELLED' });
    expect(heard).toHaveLength(2);
  });
});

describe('fetch', () => {
  it('asks with the path, the body and the two headers that pass', async () => {
    const headers = { accept: 'text/html', 'Last-Event-ID': '7', Cookie: 'x', 'X-Any': 'y' };
    const response = sdk.fetch('null/api/history?limit=5#part', { headers });
    const get = await next('request');
    expect(get).toEqual({ type: 'request', id: get.id, method: 'GET', path: '/api/history?limit=5', headers: { Accept: 'text/html', 'Last-Event-ID': '7' } });
    void sdk.fetch('/api/sessions', { method: 'post', body: JSON.stringify({ a: 1 }) });
    expect(await next('request', 2)).toMatchObject({ method: 'POST', path: '/api/sessions', headers: {}, body: '{"a":1}' });
    tell({ type: 'head', id: get.id, status: 404, statusText: 'Not Found', headers: { 'Content-Type': 'application/json' } });
    expect(await response).toMatchObject({ status: 404, ok: false });
  });

  it('reads only as fast as the applet does', async () => {
    const response = sdk.fetch('/api/stream/1');
    const { id } = await next('request');
    tell({ type: 'head', id, status: 200, statusText: 'OK', headers: {} });
    const reader = (await response).body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const mores = (): number => heard.filter(({ type }) => type === 'more').length;
    for (const piece of ['a', 'b', 'c']) {
      await next('more');
      const read = reader.read();
      tell({ type: 'chunk', id, bytes: utf8(piece) });
      expect([...((await read).value ?? [])]).toEqual([...utf8(piece)]);
    }
    // One for each that was taken, and one that there is room for.
    await vi.waitFor(() => expect(mores()).toBe(4));
    tell({ type: 'chunk', id, bytes: utf8('d') });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(mores()).toBe(4);
    expect([...((await reader.read()).value ?? [])]).toEqual([...utf8('d')]);
    tell({ type: 'end', id });
    expect((await reader.read()).done).toBe(true);
  });

  it('has no body where there is none', async () => {
    const response = sdk.fetch('/api/stream/1', { method: 'DELETE' });
    const { id } = await next('request');
    tell({ type: 'head', id, status: 204, statusText: '', headers: {} });
    tell({ type: 'end', id });
    expect([(await response).status, (await response).body]).toEqual([204, null]);
  });

  it('fails as the network does, before and on the way', async () => {
    const before = sdk.fetch('/api/sessions');
    tell({ type: 'end', id: (await next('request')).id, error: 'Gone.', code: 'LINK_LOST' });
    await expect(before).rejects.toThrow(new TypeError('Gone.'));
    const later = sdk.fetch('/api/stream/1');
    const { id } = await next('request', 2);
    tell({ type: 'head', id, status: 200, statusText: '', headers: {} });
    const text = (await later).text();
    tell({ type: 'end', id, error: 'Gone.', code: 'LINK_LOST' });
    await expect(text).rejects.toThrow('Gone.');
  });

  it('is aborted, before its head and after it', async () => {
    const abort = new AbortController();
    const before = sdk.fetch('/api/stream/1', { signal: abort.signal });
    await next('request');
    const later = sdk.fetch('/api/stream/2', { signal: abort.signal });
    const { id } = await next('request', 2);
    tell({ type: 'head', id, status: 200, statusText: '', headers: {} });
    const text = (await later).text();
    abort.abort(new Error('enough'));
    await expect(before).rejects.toThrow('enough');
    await expect(text).rejects.toThrow('enough');
    await next('cancel', 2);
    await expect(sdk.fetch('/api/stream/3', { signal: abort.signal })).rejects.toThrow('enough');
  });
});

describe('an event stream', () => {
  const STREAM =
    '\uFEFFretry: 20\r\nid: 1\r\ndata: one\r\n\r\n: a comment\nid: 2\ndata: two\ndata:  lines\ndata\n\nevent: tool\rdata:{"ä":"€😀"}\r\rid\ndata: no id\n\nid: 3\n\ndata: lost';
  const EVENTS = [
    { type: 'message', data: 'one', lastEventId: '1' },
    { type: 'message', data: 'two\n lines\n', lastEventId: '2' },
    { type: 'tool', data: '{"ä":"€😀"}', lastEventId: '2' },
    { type: 'message', data: 'no id', lastEventId: '' },
  ];

  it('is read the same, however it is cut', () => {
    const bytes = utf8(STREAM);
    for (let size = 1; size <= bytes.length; size += 1) {
      const parser = new EventParser();
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      const events = [];
      for (let at = 0; at < bytes.length; at += size) events.push(...parser.take(decoder.decode(bytes.slice(at, at + size), { stream: true })));
      expect(events).toEqual(EVENTS);
      // An id without data is kept, too.
      expect([parser.lastEventId, parser.retry]).toEqual(['3', 20]);
    }
  });

  it('drops what a cut left unfinished, and keeps the id', () => {
    const parser = new EventParser();
    parser.take('id: 5\ndata: a\n\nid: 6\ndata: b');
    parser.begin();
    expect(parser.take('\ndata: c\n\n')).toEqual([{ type: 'message', data: 'c', lastEventId: '5' }]);
  });

  it.each(['id: a\0b\ndata: x\n\n', 'retry: soon\ndata: x\n\n', 'unknown: 1\ndata: x\n\n', 'data x\ndata: x\n\n'])('ignores what is wrong in %j', (text) => {
    const parser = new EventParser();
    expect(parser.take(text)).toEqual([{ type: 'message', data: 'x', lastEventId: '' }]);
    expect(parser.retry).toBe(1000);
  });
});

describe('EventSource', () => {
  class Browsers extends EventTarget {
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSED = 2;
    constructor(readonly url: string) {
      super();
    }
  }
  let load: ReturnType<typeof vi.fn<() => Promise<AgentSdk>>>;
  let told: unknown[];

  const source = (url = '/api/stream/1'): any => {
    const made: any = new EventSource(url);
    for (const type of ['open', 'message', 'error', 'tool', 'done']) made.addEventListener(type, (event: any) => told.push([type, event.data ?? null, event.lastEventId ?? null]));
    return made;
  };
  const answer = (id: number, text: string | null, status = 200, type = 'text/event-stream'): void => {
    tell({ type: 'head', id, status, statusText: '', headers: { 'Content-Type': type } });
    if (text !== null) tell({ type: 'chunk', id, bytes: utf8(text) });
  };

  beforeEach(() => {
    vi.stubGlobal('EventSource', Browsers);
    load = vi.fn<() => Promise<AgentSdk>>().mockImplementation(async () => sdk);
    told = [];
    installEventSource(load, (url) => url.startsWith('/api/stream/'));
  });

  it('of another address is the browser’s', () => {
    const made = new EventSource('https://example.com/events');
    expect(made).toBeInstanceOf(Browsers);
    expect([EventSource.CONNECTING, EventSource.OPEN, EventSource.CLOSED]).toEqual([0, 1, 2]);
    expect(load).not.toHaveBeenCalled();
  });

  it('opens, tells its events to listeners and handlers, and comes back after a cut where it was, until all is done', async () => {
    const made = source();
    const handled: unknown[] = [];
    made.onopen = () => handled.push(['open', made.readyState]);
    made.onmessage = ({ data }: MessageEvent) => handled.push(data);
    made.onerror = () => handled.push(['error', made.readyState]);
    expect([made.readyState, made.url]).toEqual([0, '/api/stream/1']);
    const first = await next('request');
    expect(first).toMatchObject({ method: 'GET', path: '/api/stream/1', headers: { Accept: 'text/event-stream' } });
    expect(first.headers['Last-Event-ID']).toBeUndefined();
    answer(first.id, 'retry: 1\nid: 4\ndata: a\n\nevent: tool\ndata: t\n\ndata: unfin');
    tell({ type: 'end', id: first.id });
    const second = await next('request', 2);
    expect(second.headers['Last-Event-ID']).toBe('4');
    answer(second.id, 'id: 5\ndata: b\n\nevent: done\ndata: {}\n\ndata: after\n\n');
    await vi.waitFor(() => expect(made.readyState).toBe(2));
    expect(handled).toEqual([['open', 1], 'a', ['error', 0], ['open', 1], 'b']);
    expect(told).toEqual([
      ...[['open', null, null], ['message', 'a', '4'], ['tool', 't', '4'], ['error', null, null]],
      ...[['open', null, null], ['message', 'b', '5'], ['done', '{}', '5']],
    ]);
    expect([made.CONNECTING, made.OPEN, made.CLOSED, made.withCredentials]).toEqual([0, 1, 2, false]);
    await next('cancel');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard.filter(({ type }) => type === 'request')).toHaveLength(2);
  });

  it('comes back when the server was away for a moment', async () => {
    const made = source();
    answer((await next('request')).id, 'retry: 1\n\n');
    tell({ type: 'end', id: (await next('request')).id, error: 'cut' });
    const second = await next('request', 2);
    answer(second.id, null, 502, 'text/html');
    const third = await next('request', 3);
    tell({ type: 'end', id: third.id, error: 'away', code: 'LINK_LOST' });
    await next('request', 4);
    expect(made.readyState).toBe(0);
    made.close();
  });

  it.each([
    [204, ''],
    [403, 'application/json'],
    [404, 'application/json'],
    [503, 'application/json'],
    [200, 'text/html'],
  ])('ends when the server answers %i %s', async (status, type) => {
    const made = source();
    const { id } = await next('request');
    answer(id, null, status, type);
    await vi.waitFor(() => expect(told).toEqual([['error', null, null]]));
    expect(made.readyState).toBe(2);
  });

  it('that is closed says nothing more, also when it was closed before anything was loaded', async () => {
    const early = source();
    early.close();
    const made = source();
    const { id } = await next('request');
    made.close();
    expect(await next('cancel')).toEqual({ type: 'cancel', id });
    answer(id, 'data: a\n\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([told, early.readyState, made.readyState]).toEqual([[], 2, 2]);
    expect(heard.filter(({ type }) => type === 'request')).toHaveLength(1);
  });

  it('fails where there is no agent', async () => {
    load.mockRejectedValue(new CallError('There is none.', 'NO_AGENT'));
    const made = source();
    made.onerror = vi.fn();
    await vi.waitFor(() => expect(made.onerror).toHaveBeenCalledOnce());
    expect(made.readyState).toBe(2);
  });
});

describe('what is loaded', () => {
  it('is loaded once, with a port of its own, and tried again where it failed', async () => {
    const call = vi.fn<(method: string, args: any, transfer: unknown[]) => Promise<unknown>>().mockRejectedValueOnce(new CallError('Busy.', 'INTERNAL_ERROR'));
    call.mockResolvedValue('((port) => ({ port }))');
    const load = agentLoader(call as unknown as Call);
    await expect(load()).rejects.toThrow('Busy.');
    const [one, two] = await Promise.all([load(), load()]);
    expect(one === two).toBe(true);
    expect(call).toHaveBeenCalledTimes(2);
    const [method, { port }, transfer] = call.mock.lastCall as [string, any, unknown[]];
    expect([method, transfer.length, transfer[0] === port]).toEqual(['agent', 1, true]);
    expect(typeof (one as any).port.postMessage).toBe('function');
  });
});
