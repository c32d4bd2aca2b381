// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import type { AgentSdk } from '../../src/sdk/agent/index.js';
import type { LoadAgent } from '../../src/sdk/agent.js';
import { type Call, CallError } from '../../src/sdk/calls.js';
import { Fetch, isStream } from '../../src/sdk/fetch.js';
import { Files } from '../../src/sdk/files.js';
import { OwnFiles } from '../../src/sdk/own.js';
import type { Port } from '../../src/sdk/port.js';
import { AppState } from '../../src/sdk/state.js';

/** The workspace that the page would reach. */
let disk: Map<string, Uint8Array<ArrayBuffer>>;
let refusal: CallError | null;
let fetching: Fetch;
let state: AppState;
let agent: Mock<LoadAgent>;

const page = async (method: string, { path, content, ifMatch }: any): Promise<unknown> => {
  if (refusal) throw refusal;
  if (method === 'listFiles') return { files: [...disk.keys()].map((name) => ({ name, type: 'file', size: 1, modified: '' })) };
  const found = disk.get(path);
  if (method === 'readFile') {
    if (!found) throw new CallError(`There is no ${path}.`, 'FILE_MISSING');
    return { blob: new Blob([found.slice()]), version: 'v1' };
  }
  if (ifMatch !== undefined && ifMatch !== 'v1') throw new CallError('It changed.', 'VERSION_CONFLICT');
  disk.set(path, typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content));
  return { version: 'v2' };
};

beforeEach(() => {
  disk = new Map([['a b.txt', new TextEncoder().encode('ä')], ['x.bin', Uint8Array.of(255, 0)]]);
  refusal = null;
  const own = new OwnFiles({ 'a.wasm': { base64: 'AGFzbQ==' }, 'data/x.json': { text: '{"n":1}' } });
  const files = new Files(page as Call, own);
  state = new AppState({ send() {} } as unknown as Port, { n: 1 });
  agent = vi.fn<LoadAgent>().mockResolvedValue({ fetch: async (url: string) => new Response(`the agent’s ${url}`) } as unknown as AgentSdk);
  fetching = new Fetch(files, own, state, agent);
});

async function ask(url: RequestInfo | URL, init?: RequestInit): Promise<{ status: number; body: any }> {
  const response = (await fetching.answer(url, init)) as Response;
  return { status: response.status, body: await response.json() };
}
const post = (url: string, body: unknown) => ask(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('a file', () => {
  it.each(['/api/applet/file?path=a%20b.txt', 'api/applet/file?path=a+b.txt', 'null/api/applet/file?path=a%20b.txt#x', 'file:///api/applet/file?path=a%20b.txt'])(
    'is read at %s',
    async (url) => {
      expect(await ask(url)).toEqual({ status: 200, body: { content: 'ä', encoding: 'utf-8', version: 'v1' } });
    },
  );

  it('is read by a URL and by a Request', async () => {
    const url = new URL('file:///api/applet/file?path=a%20b.txt');
    expect((await ask(url)).body.content).toBe('ä');
    expect((await ask({ url: url.href, method: 'GET' } as Request)).body.content).toBe('ä');
  });

  it('that is no text comes as base64', async () => {
    expect((await ask('/api/applet/file?path=x.bin')).body).toMatchObject({ content: '/wA=', encoding: 'base64' });
  });

  it('is written, as text and as bytes', async () => {
    expect(await post('/api/applet/file?path=new', { content: 'hi' })).toEqual({ status: 200, body: { ok: true, version: 'v2' } });
    await post('/api/applet/file?path=bytes', { content: '/wA=', encoding: 'base64', ifMatch: 'v1' });
    expect([new TextDecoder().decode(disk.get('new')), disk.get('bytes')]).toEqual(['hi', Uint8Array.of(255, 0)]);
  });

  it('is only looked for by HEAD', async () => {
    const response = (await fetching.answer('/api/applet/file?path=x.bin', { method: 'head' })) as Response;
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it.each<[unknown, RegExp]>([
    ['{', /no JSON/],
    [5, /JSON object/],
    [{}, /needs a content/],
    [{ content: 1 }, /needs a content/],
    [{ content: '', encoding: 'latin-1' }, /encoding must be/],
    [{ content: '?', encoding: 'base64' }, /no base64/],
  ])('is not written by %j', async (body, error) => {
    expect(await post('/api/applet/file?path=new', body)).toEqual({ status: 400, body: { error: expect.stringMatching(error), code: 'INVALID_ARGUMENTS' } });
  });
});

describe('an error', () => {
  it.each([
    ['PATH_REFUSED', 403],
    ['PERMISSION_DENIED', 403],
    ['FILE_MISSING', 404],
    ['VERSION_CONFLICT', 409],
    ['FILE_TOO_LARGE', 413],
    ['INVALID_ARGUMENTS', 400],
    ['STORAGE_FAILED', 500],
  ])('%s has the status %i', async (code, status) => {
    refusal = new CallError('No.', code);
    expect(await ask('/api/applet/list')).toEqual({ status, body: { error: 'No.', code } });
  });

  it('tells a method that nobody understands', async () => {
    expect((await ask('/api/applet/list', { method: 'DELETE' })).status).toBe(405);
  });
});

it('a folder is listed', async () => {
  expect((await ask('/api/applet/list?path=')).body.files.map(({ name }: { name: string }) => name)).toEqual(['a b.txt', 'x.bin']);
});

it('the state is read and merged', async () => {
  expect((await post('/api/applet/state', { data: { a: 1 } })).body).toEqual({ ok: true });
  await post('/api/applet/state', { state: { b: 2 } });
  expect((await ask('/api/applet/state')).body).toEqual({ state: { n: 1, a: 1, b: 2 } });
  expect((await post('/api/applet/state', { data: 5 })).status).toBe(400);
});

describe('the applet’s own file', () => {
  it.each(['applet:/data/x.json', 'data/x.json', './data/x.json', '/data/x.json?v=1'])('is given at %s', async (url) => {
    expect((await ask(url)).body).toEqual({ n: 1 });
  });

  it('has its type, so that WebAssembly can stream it', async () => {
    const response = await fetching.answer(new URL('../a.wasm', 'applet:/data/x.js'));
    expect([response?.headers.get('Content-Type'), (await response?.arrayBuffer())?.byteLength]).toEqual(['application/wasm', 4]);
  });

  it('that is not there is not found', async () => {
    expect((await fetching.answer('applet:/none'))?.status).toBe(404);
  });
});

describe('a path of the agent’s', () => {
  it.each(['/api/sessions', 'api/sessions/a%2Fb/messages', 'null/api/message', '/api/stream/1?x', 'file:///api/history?session=s'])('%s is answered by what is loaded for it', async (url) => {
    expect(await (await fetching.answer(url))?.text()).toBe(`the agent’s ${url}`);
    expect(isStream(url)).toBe(url.includes('stream'));
  });

  it('is refused in JSON where there is no agent', async () => {
    agent.mockRejectedValue(new CallError('There is no agent in an exported file.', 'NO_AGENT'));
    expect(await ask('/api/sessions')).toEqual({ status: 503, body: { error: 'There is no agent in an exported file.', code: 'NO_AGENT' } });
  });

  it.each(['/api/sessionsx', '/api/histories', 'https://example.com/api/stream/1', '//h/api/stream/1', '/api/applets', '/x/api/stream/1'])('%s is not', (url) => {
    expect(fetching.answer(url)).toBeNull();
    expect(isStream(url)).toBe(false);
    expect(agent).not.toHaveBeenCalled();
  });
});

it.each(['https://example.com/api/applet/file?path=a', 'https://example.com/', 'data:,x', 'blob:null/1', 'other.txt', '/api/applet/files', '//h/api/applet/file'])(
  '%s is the browser’s',
  (url) => {
    expect(fetching.answer(url)).toBeNull();
  },
);

it('nobody waits for what was aborted', async () => {
  const abort = new AbortController();
  const answer = fetching.answer('/api/applet/list', { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  await expect(fetching.answer('/api/applet/list', { signal: abort.signal })).rejects.toThrow('enough');
});
