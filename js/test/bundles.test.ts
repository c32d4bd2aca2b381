// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type BundleModel, loadText } from '../src/bundles.js';

let version = 0;
let sent: any[];
let listeners: Set<(content: unknown) => void>;

const model = (route: 'server' | 'kernel'): BundleModel => ({
  get: (name) => (name === '_route' ? route : `0.0.${version}`),
  on: (_, callback) => void listeners.add(callback),
  off: (_, callback) => void listeners.delete(callback),
  send: (content) => void sent.push(content),
});
const answer = (content: object): void => [...listeners].forEach((listener) => listener(content));

beforeEach(() => {
  // What was loaded is kept on the page, by version.
  version += 1;
  sent = [];
  listeners = new Set();
  document.head.innerHTML = `<script id="jupyter-config-data" type="application/json">{"baseUrl": "/"}</script>`;
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('a bundle comes from the server, once for all who want it', async () => {
  const fetched = vi.fn<typeof fetch>().mockImplementation(async () => new Response('text'));
  vi.stubGlobal('fetch', fetched);
  expect(await Promise.all([loadText(model('server'), 'lexer.js'), loadText(model('server'), 'lexer.js')])).toEqual(['text', 'text']);
  expect(fetched).toHaveBeenCalledOnce();
  expect(new URL(String(fetched.mock.lastCall?.[0])).pathname).toBe('/applets/static/lexer.js');
  expect(String(fetched.mock.lastCall?.[0])).toContain(`v=0.0.${version}`);
});

it('a bundle comes from the kernel where the server does not have it, and where there is none', async () => {
  vi.stubGlobal('fetch', vi.fn<typeof fetch>().mockResolvedValue(new Response('', { status: 404 })));
  const loading = loadText(model('server'), 'lexer.js');
  await vi.waitFor(() => expect(sent).toEqual([{ kind: 'bundle', name: 'lexer.js' }]));
  answer({ kind: 'frame' });
  answer({ kind: 'bundle', name: 'desk.js', text: 'another' });
  answer({ kind: 'bundle', name: 'lexer.js', text: 'text' });
  expect(await loading).toBe('text');
  expect(listeners.size).toBe(0);
});

it('a bundle that failed is tried again by the next who wants it', async () => {
  const first = loadText(model('kernel'), 'lexer.js');
  answer({ kind: 'bundle', name: 'lexer.js', error: 'There is no lexer.js.' });
  await expect(first).rejects.toThrow('There is no lexer.js.');
  const second = loadText(model('kernel'), 'lexer.js');
  answer({ kind: 'bundle', name: 'lexer.js', text: 'text' });
  expect(await second).toBe('text');
});
