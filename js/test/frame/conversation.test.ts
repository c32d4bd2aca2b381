import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Conversation } from '../../src/frame/conversation.js';
import type { Way } from '../../src/frame/frame.js';
import type { AppProtocolRequest, Ask, FromPage } from '../../src/protocol.gen.js';

const request = (requestId: string, ask: Ask, seq?: number): AppProtocolRequest => ({
  type: 'APP_PROTOCOL_REQUEST',
  requestId,
  windowId: 'w',
  request: ask,
  ...(seq === undefined ? {} : { seq }),
});
const answer = (requestId: string, data: unknown = 1) => ({ type: 'yaar:app-query-response', requestId, data, error: null });
const ready = { type: 'yaar:app-ready', appId: 'x', manifest: { appId: 'x' }, hydrates: true };
const QUERY: Ask = { kind: 'query', stateKey: 'x' };

let conversation: Conversation;
let posted: { batch: any[]; way: Way }[];
let sent: FromPage[][];
let heard: unknown[];
let isThere: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  posted = [];
  sent = [];
  heard = [];
  isThere = true;
  conversation = new Conversation('v', 'w', {
    post: (batch, way) => {
      posted.push({ batch, way });
      return isThere;
    },
    send: (messages) => sent.push(messages),
    heard: (message) => heard.push(message),
  });
  conversation.begin(5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('requests', () => {
  it('go to the applet in its own words, as one batch', () => {
    conversation.request([
      request('1', { kind: 'manifest' }),
      request('2', QUERY, 7),
      request('3', { kind: 'command', command: 'c', params: { a: 1 }, replayed: true }, 8),
      request('4', { kind: 'hydrate', state: { s: 1 } }),
    ]);
    expect(posted).toEqual([
      {
        way: 'port',
        batch: [
          { type: 'yaar:app-manifest-request', requestId: '1' },
          { type: 'yaar:app-query-request', requestId: '2', stateKey: 'x' },
          { type: 'yaar:app-command-request', requestId: '3', command: 'c', params: { a: 1 }, replayed: true },
          { type: 'yaar:app-hydrate-request', requestId: '4', state: { s: 1 } },
        ],
      },
    ]);
  });

  it('are answered once, in one batch for one batch', () => {
    conversation.request([request('1', QUERY), request('2', { kind: 'command', command: 'c' })]);
    const failed = { type: 'yaar:app-command-response', requestId: '2', result: null, error: 'no', code: 'HANDLER_FAILED' };
    conversation.receive([answer('1', { a: 1 }), failed, answer('1'), answer('unasked')], 'port');
    expect(sent).toEqual([
      [
        { type: 'APP_PROTOCOL_RESPONSE', requestId: '1', windowId: 'w', response: { kind: 'query', data: { a: 1 } } },
        { type: 'APP_PROTOCOL_RESPONSE', requestId: '2', windowId: 'w', response: { kind: 'command', result: null, error: 'no', code: 'HANDLER_FAILED' } },
      ],
    ]);
  });

  it('are not answered by a response of another kind', () => {
    conversation.request([request('1', { kind: 'command', command: 'c' })]);
    conversation.receive([answer('1')], 'port');
    expect(sent).toEqual([]);
  });

  it('get their one answer when the document is replaced, and none from the old one after that', () => {
    conversation.request([request('1', QUERY), request('2', { kind: 'manifest' })]);
    conversation.begin(6);
    conversation.receive([answer('1')], 'port');
    expect(sent.flat()).toMatchObject([
      { requestId: '1', response: { kind: 'query', code: 'VIEW_GONE' } },
      { requestId: '2', response: { kind: 'manifest', manifest: null, code: 'VIEW_GONE' } },
    ]);
  });

  it('are answered at once when there is no document', () => {
    isThere = false;
    conversation.request([request('1', QUERY)]);
    expect(sent.flat()).toMatchObject([{ requestId: '1', response: { code: 'VIEW_GONE' } }]);
  });
});

describe('requests about the document', () => {
  const DOM: Ask = { kind: 'dom', selector: '#total', format: 'text' };
  const answered = { type: 'yaar:app-dom-response', requestId: '1', data: '42', error: null };

  it('go to the SDK, also where the applet speaks for itself', () => {
    conversation.receive([ready], 'raw');
    sent = [];
    conversation.request([request('1', DOM), request('2', QUERY)]);
    expect(posted).toMatchObject([
      { way: 'raw', batch: [{ requestId: '2' }] },
      { way: 'port', batch: [{ type: 'yaar:app-dom-request', requestId: '1', selector: '#total', format: 'text' }] },
    ]);
    conversation.receive([answered], 'raw');
    expect(sent).toEqual([]);
    conversation.receive([answered], 'port');
    expect(sent.flat()).toEqual([{ type: 'APP_PROTOCOL_RESPONSE', requestId: '1', windowId: 'w', response: { kind: 'dom', data: '42' } }]);
  });

  it('wait for a document to start', () => {
    isThere = false;
    conversation.request([request('1', DOM)]);
    conversation.end('It reloads.');
    expect(sent).toEqual([]);
    isThere = true;
    conversation.begin(6);
    expect(posted.at(-1)).toMatchObject({ way: 'port', batch: [{ requestId: '1' }] });
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
  });

  it('are answered when none has started in 5 s, or when none will', () => {
    isThere = false;
    conversation.request([request('1', DOM)]);
    vi.advanceTimersByTime(5000);
    conversation.request([request('2', DOM)]);
    conversation.close('It was closed.');
    expect(sent.flat()).toMatchObject([
      { requestId: '1', response: { kind: 'dom', data: null, code: 'NOT_READY' } },
      { requestId: '2', response: { code: 'VIEW_GONE', error: 'It was closed.' } },
    ]);
  });
});

describe('ready', () => {
  it('is announced with the cleaned manifest, the document’s number and its content’s revision', () => {
    conversation.receive([ready], 'port');
    const manifest = { appId: 'x', name: '', state: {}, commands: {} };
    expect(sent).toEqual([[{ type: 'APP_PROTOCOL_READY', windowId: 'w', viewId: 'v', document: 1, manifest, hydrates: true, revision: 5 }]]);
    expect([conversation.ready, conversation.manifest, conversation.hydrates]).toEqual([true, manifest, true]);
    conversation.begin(6);
    expect([conversation.document, conversation.ready, conversation.manifest]).toEqual([2, false, null]);
    conversation.receive([ready], 'port');
    expect(sent.at(-1)).toMatchObject([{ document: 2, revision: 6 }]);
  });

  it('without a manifest waits for one that is asked for', () => {
    conversation.receive([{ type: 'yaar:app-ready', appId: 'x' }], 'raw');
    expect(sent).toEqual([]);
    const [{ batch, way } = { batch: [], way: 'port' }] = posted;
    expect(way).toBe('raw');
    conversation.receive([{ type: 'yaar:app-manifest-response', requestId: batch[0].requestId, manifest: { name: 'X' } }], 'raw');
    expect(sent).toMatchObject([[{ type: 'APP_PROTOCOL_READY', manifest: { name: 'X' } }]]);
    vi.advanceTimersByTime(5000);
    expect(sent).toHaveLength(1);
  });

  it('is announced without a manifest when none comes within a second', () => {
    conversation.receive([{ type: 'yaar:app-ready' }], 'raw');
    vi.advanceTimersByTime(1000);
    expect(sent).toMatchObject([[{ type: 'APP_PROTOCOL_READY', manifest: null }]]);
  });

  it('makes its sender the one that answers', () => {
    conversation.receive([ready], 'port');
    conversation.receive([ready], 'raw');
    conversation.request([request('1', QUERY)]);
    expect(posted.at(-1)?.way).toBe('raw');
    sent = [];
    conversation.receive([answer('1')], 'port');
    expect(sent).toEqual([]);
    conversation.receive([answer('1')], 'raw');
    expect(sent.flat()).toHaveLength(1);
  });
});

describe('what an applet says by itself', () => {
  it('is passed on; console lines of one batch together', () => {
    const line = (text: string) => ({ type: 'yaar:console', level: 'log', args: [text], timestamp: 1 });
    const entry = (text: string) => ({ level: 'log', args: [text], timestamp: 1 });
    const snapshot = { type: 'yaar:app-snapshot', state: { a: 1 } };
    conversation.receive([line('a'), { type: 'yaar:app-interaction', content: 'hi' }, snapshot, line('b'), { type: 'applet:dropped', count: 3 }], 'port');
    expect(sent).toEqual([
      [
        { type: 'interaction', windowId: 'w', content: 'hi' },
        { type: 'snapshot', windowId: 'w', viewId: 'v', state: { a: 1 } },
        { type: 'console', windowId: 'w', entries: [entry('a'), entry('b')], dropped: 3 },
      ],
    ]);
    expect(conversation.snapshot).toEqual({ a: 1 });
  });

  it('to the page alone is heard from the SDK only', () => {
    const size = { type: 'applet:size', height: 5 };
    conversation.receive([size], 'raw');
    conversation.receive([size], 'port');
    expect(heard).toEqual([size]);
  });

  it('and no JSON can say is not kept, with a warning', () => {
    const circle: Record<string, unknown> = {};
    circle['own'] = circle;
    conversation.receive([{ type: 'applet:set-state', data: circle }, { type: 'yaar:app-snapshot', state: { n: 1n } }], 'port');
    expect([heard, sent, conversation.snapshot]).toEqual([[], [], null]);
    expect(console.warn).toHaveBeenCalledOnce();
  });

  it('in no known shape is ignored, with one warning', () => {
    conversation.receive([null, 1, {}, { type: 'yaar:nonsense' }], 'raw');
    expect([sent, heard]).toEqual([[], []]);
    expect(console.warn).toHaveBeenCalledOnce();
  });
});
