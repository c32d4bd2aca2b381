// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as agentPage from '../../src/agent/page.js';
import { shared } from '../../src/channel/shared.js';
import { type AgentSdk, open } from '../../src/sdk/agent/index.js';
import { greet, passed, Viewing } from '../viewing.js';

let page: Viewing;
let sdk: AgentSdk;
let fetched: ReturnType<typeof vi.fn<(url: string, init: RequestInit) => Promise<Response>>>;
let isActive: boolean;

/** As the SDK does it: the other half speaks over a port that goes with the call. */
async function load(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  page.start();
  page.sayWith([port2], { type: 'applet:call', id: 1, method: 'agent', args: { port: port2 } });
  expect((await page.gets('applet:reply')).value).toBe('the SDK’s half');
  sdk = open(port1);
}

const complete = (id: string, fields: object): void => page.hear({ type: 'invokeComplete', id, result: null, error: null, code: null, ...fields });
const needed = (id: string): void => complete(id, { error: 'A person has to agree.', code: 'PERMISSION_NEEDED' });
const json = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', 'X-Other': 'x' } });
const asked = (at = -1): URL => new URL(String(fetched.mock.calls.at(at)?.[0]));

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.stubGlobal('__AGENT_SDK__', 'the SDK’s half');
  fetched = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();
  vi.stubGlobal('fetch', fetched);
  isActive = true;
  Object.defineProperty(navigator, 'userActivation', { configurable: true, get: () => ({ isActive }) });
  document.head.innerHTML = '<script id="jupyter-config-data" type="application/json">{"baseUrl":"/user/me/","token":"t0"}</script>';
  shared().modules.set('text of agent.js', Promise.resolve(agentPage));
  page = new Viewing({ title: 'Sheet', html: 'one' }, 3);
  page.tell({ revision: 3 });
  await load();
  await page.sent();
});
afterEach(() => {
  page.view.dispose();
  document.head.innerHTML = '';
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('invokeAgent', () => {
  it('asks the host in the window’s name, brings what comes, and the result', async () => {
    const told: unknown[] = [];
    const imageData = 'data:image/png;base64,AA==';
    const result = sdk.invoke('Hi', { session: 'new', imageData, onDelta: (...args: unknown[]) => told.push(args), onStatus: (status: unknown) => told.push(status) });
    const { id, ...message } = await page.next('invoke');
    expect(message).toEqual({ type: 'invoke', windowId: 'w', revision: 3, prompt: 'Hi', options: { session: 'new' }, consent: false, byPerson: true, imageData });
    page.hear({ type: 'messageStatus', id, streamId: 't', status: 'queued', message: 'Wait.' }, { type: 'stream', id, delta: 'a' }, { type: 'stream', id, delta: 'b' });
    complete(id, { result: { text: 'ab', state: {}, toolCalls: [] } });
    expect(await result).toEqual({ text: 'ab', state: {}, toolCalls: [] });
    expect(told).toEqual([{ status: 'queued', message: 'Wait.' }, ['a', 'a'], ['b', 'ab']]);
  });

  it('says that no person has acted, and rejects with the host’s error', async () => {
    isActive = false;
    const result = sdk.invoke('Hi');
    const { id, byPerson } = await page.next('invoke');
    expect(byPerson).toBe(false);
    complete(id, { error: 'It broke.' });
    await expect(result).rejects.toMatchObject({ message: 'It broke.', code: 'AGENT_FAILED' });
  });

  it('is cancelled at the host, by its own id', async () => {
    const abort = new AbortController();
    const result = sdk.invoke('Hi', { signal: abort.signal });
    const { id } = await page.next('invoke');
    abort.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await page.next('invokeCancel')).toEqual({ type: 'invokeCancel', id });
  });

  it('goes on at the host when its document goes, and nobody hears of it', async () => {
    const settled = vi.fn();
    sdk.invoke('Hi').then(settled, settled);
    const { id } = await page.next('invoke');
    greet('applet:leaving');
    complete(id, { result: { text: 'late' } });
    page.start();
    await page.gets('applet:visible');
    expect(await page.types()).not.toContain('invokeCancel');
    expect(settled).not.toHaveBeenCalled();
  });

  it('of a wrong shape is refused by the page, whatever the applet made of its SDK', async () => {
    const { port1, port2 } = new MessageChannel();
    const heard: any[] = [];
    port1.onmessage = ({ data }) => heard.push(data);
    page.sayWith([port2], { type: 'applet:call', id: 2, method: 'agent', args: { port: port2 } });
    await passed(() => page.posted.some(({ type, id }) => type === 'applet:reply' && id === 2));
    const words = [
      { type: 'invoke', id: 1, prompt: 5 },
      { type: 'invoke', id: 2, prompt: 'a', options: { appletSlug: 'other' } },
      { type: 'invoke', id: 3, prompt: 'a', options: { timeout: 'x' } },
      { type: 'invoke', id: 4, prompt: 'a', imageData: 'javascript:1' },
      { type: 'request', id: 5, method: 'GET', path: 7 },
      { type: 'request', id: 6, method: 'GET', path: '/api/history', body: {} },
      { type: 'format', id: 7 },
    ];
    for (const word of [null, 5, { type: 'invoke', id: 'x', prompt: 'a' }, ...words]) port1.postMessage(word);
    await passed(() => heard.length === words.length);
    expect(heard.map(({ id, code }) => [id, code])).toEqual(words.map(({ id }) => [id, 'INVALID_ARGUMENTS']));
    expect([await page.types(), fetched.mock.calls]).toEqual([[], []]);
    port1.close();
  });

  it('without a port is no call', async () => {
    page.say({ type: 'applet:call', id: 2, method: 'agent', args: { port: {} } });
    await passed(() => page.posted.some(({ id, code }) => id === 2 && code === 'INVALID_ARGUMENTS'));
  });
});

describe('invokeAgent that needs a person', () => {
  let result: Promise<unknown>;
  const abort = { now: (): void => {} };

  beforeEach(async () => {
    const controller = new AbortController();
    abort.now = () => controller.abort();
    result = sdk.invoke(`Tell me\nall ${'x'.repeat(200)} please`, { signal: controller.signal });
    result.catch(() => {});
    needed((await page.next('invoke')).id);
    await passed(() => page.bars.length === 1);
  });

  it('asks with the first and last of the prompt, and is done once', async () => {
    expect(page.bars).toEqual([`“Sheet” wants to speak with the agent: “Tell me all ${'x'.repeat(28)}…${'x'.repeat(32)} please”.`]);
    page.choose('Allow once');
    const { id, consent } = await page.next('invoke');
    expect(consent).toBe(true);
    complete(id, { result: { text: 'ok' } });
    expect(await result).toEqual({ text: 'ok' });
  });

  it('is done again when the host has kept that it always may', async () => {
    page.choose('Always for this applet');
    const permit = await page.next('permit');
    expect(permit).toMatchObject({ permission: 'agent', value: true });
    page.hear({ type: 'result', id: permit.id });
    expect(await page.next('invoke')).toMatchObject({ consent: false });
    expect(page.bars).toEqual(['This applet may speak with the agent.']);
  });

  it('is denied, and the host remembers, when the person says no', async () => {
    page.choose('Deny');
    const permit = await page.next('permit');
    expect(permit).toMatchObject({ permission: 'agent', value: false });
    page.hear({ type: 'result', id: permit.id });
    await expect(result).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('is not done any more when it was cancelled meanwhile', async () => {
    abort.now();
    await page.next('invokeCancel');
    page.choose('Allow once');
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
    await Promise.resolve();
    expect(await page.types()).toEqual([]);
  });
});

describe('a request', () => {
  it('is the page’s own, in the window’s name, with nothing else of the applet’s', async () => {
    fetched.mockResolvedValue(json(200, [{ content: 'Hi' }]));
    const response = await sdk.fetch('/api/history?session=a%2Fb&limit=2', { headers: { Accept: 'text/html', Authorization: 'x', Cookie: 'y' } });
    expect(await response.json()).toEqual([{ content: 'Hi' }]);
    expect([...response.headers].map(([name]) => name.toLowerCase())).toEqual(['content-type']);
    expect(asked().pathname).toBe('/user/me/applets/api/history');
    expect(Object.fromEntries(asked().searchParams)).toEqual({ session: 'a/b', limit: '2', windowId: 'w', windowSession: 's', revision: '3', byPerson: '1' });
    expect(fetched.mock.lastCall?.[1]).toMatchObject({ method: 'GET', credentials: 'same-origin', redirect: 'error', headers: { Authorization: 'token t0', Accept: 'text/html' } });
    expect(Object.keys(fetched.mock.lastCall?.[1].headers ?? {})).toEqual(['Authorization', 'Accept']);
  });

  it('that posts has its body, and comes from the window’s session, whichever it names', async () => {
    fetched.mockResolvedValue(json(200, { streamId: 't' }));
    const body = JSON.stringify({ prompt: 'Hi' });
    await sdk.fetch('/api/sessions/x%20y/messages?session=other', { method: 'POST', body });
    expect(asked().pathname).toBe('/user/me/applets/api/sessions/x%20y/messages');
    expect(Object.fromEntries(asked().searchParams)).toMatchObject({ session: 'other', windowSession: 's', windowId: 'w' });
    expect(fetched.mock.lastCall?.[1]).toMatchObject({ method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  });

  it.each([
    ['GET', '/api/sessions/../../api/contents', 404],
    ['GET', '/api/sessions/..%2F..%2Fcontents/messages', 405],
    ['POST', '/api/sessions/..%2F..%2Fcontents/messages', 400],
    ['DELETE', '/api/sessions', 405],
    ['GET', '/api/history?token=x', 400],
  ])('%s %s is not made', async (method, url, status) => {
    expect((await sdk.fetch(url, { method })).status).toBe(status);
    expect(fetched).not.toHaveBeenCalled();
  });

  it('that needs a person is asked about, and made again', async () => {
    fetched.mockImplementation(async (url) => (url.includes('consent=1') ? json(200, { streamId: 't' }) : json(403, { code: 'PERMISSION_NEEDED', message: 'Ask.' })));
    const response = sdk.fetch('/api/message', { method: 'POST', body: JSON.stringify({ prompt: 'Hi' }) });
    await passed(() => page.bars.length === 1);
    expect(page.bars).toEqual(['“Sheet” wants to speak with the agent: “Hi”.']);
    page.choose('Allow once');
    expect(await (await response).json()).toEqual({ streamId: 't' });
    void sdk.fetch('/api/sessions');
    await passed(() => page.bars.length === 1);
    expect(page.bars).toEqual(['“Sheet” wants to speak with the agent: its sessions.']);
  });

  it('that a person denies, or the server refuses, is answered with 403', async () => {
    fetched.mockResolvedValue(json(403, { code: 'PERMISSION_NEEDED', message: 'Ask.' }));
    const response = sdk.fetch('/api/sessions');
    await passed(() => page.bars.length === 1);
    page.choose('Deny');
    page.hear({ type: 'result', id: (await page.next('permit')).id });
    expect([(await response).status, (await (await response).json()).code]).toEqual([403, 'PERMISSION_DENIED']);
    fetched.mockResolvedValue(json(403, { code: 'FORBIDDEN', message: 'No.' }));
    const refused = await sdk.fetch('/api/sessions');
    expect([refused.status, await refused.json()]).toEqual([403, { code: 'FORBIDDEN', message: 'No.' }]);
  });

  it('streams as the applet reads, and is given up when the applet gives it up', async () => {
    let pulls = 0;
    const body = (): ReadableStream<Uint8Array> =>
      new ReadableStream({ pull: (stream) => stream.enqueue(new TextEncoder().encode(`data: ${(pulls += 1)}\n\n`)) }, { highWaterMark: 0 });
    fetched.mockImplementation(async () => new Response(body(), { headers: { 'Content-Type': 'text/event-stream' } }));
    const abort = new AbortController();
    const response = await sdk.fetch('/api/stream/t1', { signal: abort.signal, headers: { 'Last-Event-ID': '9' } });
    expect(fetched.mock.lastCall?.[1].headers).toMatchObject({ 'Last-Event-ID': '9' });
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    for (const n of [1, 2, 3]) expect(new TextDecoder().decode((await reader.read()).value)).toBe(`data: ${n}\n\n`);
    await passed(() => pulls === 4);
    await new Promise((resolve) => (globalThis as any).setImmediate(resolve));
    expect(pulls).toBe(4);
    abort.abort();
    await expect(reader.read()).rejects.toThrow();
    await passed(() => fetched.mock.lastCall?.[1].signal?.aborted === true);
  });

  it('that reads ends with its document; one that writes is let be', async () => {
    fetched.mockReturnValue(new Promise(() => {}));
    void sdk.fetch('/api/stream/t1');
    await passed(() => fetched.mock.calls.length === 1);
    void sdk.fetch('/api/message', { method: 'POST', body: '{}' });
    await passed(() => fetched.mock.calls.length === 2);
    greet('applet:leaving');
    expect(fetched.mock.calls.map(([, { signal }]) => signal?.aborted)).toEqual([true, false]);
  });

  it('that the network breaks fails as fetch does', async () => {
    fetched.mockRejectedValue(new TypeError('Failed to fetch'));
    await expect(sdk.fetch('/api/sessions')).rejects.toThrow('The server could not be reached: TypeError: Failed to fetch');
  });

  it('cannot be made where there is no server’s host', async () => {
    document.head.innerHTML = '';
    const error = 'Sessions over HTTP need the Jupyter server extension; use invokeAgent().';
    const response = await sdk.fetch('/api/sessions');
    expect([response.status, await response.json()]).toEqual([503, { code: 'ROUTE_ERROR', error, message: error }]);
  });
});

it('a document has only so much under way', async () => {
  const failed: any[] = [];
  for (let at = 0; at < 101; at += 1) sdk.invoke('Hi').catch((error) => failed.push(error));
  await passed(() => failed.length === 1);
  expect(failed[0]).toMatchObject({ code: 'TOO_MANY_CALLS' });
});
