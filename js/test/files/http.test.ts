// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HttpFiles } from '../../src/files/http.js';

const files = new HttpFiles('nb.ipynb');
const BY = { windowId: 'w', revision: 3, consent: false };
let fetched: ReturnType<typeof vi.fn<typeof fetch>>;

const asked = (): { url: URL; options: RequestInit } => {
  const [url, options] = fetched.mock.lastCall ?? [];
  return { url: new URL(String(url)), options: options ?? {} };
};

beforeEach(() => {
  document.head.innerHTML = `<script id="jupyter-config-data" type="application/json">{"baseUrl": "/hub/", "token": "secret"}</script>`;
  document.cookie = '_xsrf=2|abc';
  fetched = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe('over HTTP', () => {
  it('a file comes as its bytes, with its version', async () => {
    fetched.mockResolvedValue(new Response(Uint8Array.of(1, 255), { headers: { ETag: '"7f"' } }));
    const { blob, version } = await files.read(BY, 'data/ä b.bin');
    expect([[...new Uint8Array(await blob.arrayBuffer())], version]).toEqual([[1, 255], '7f']);
    const { url, options } = asked();
    expect(url.pathname).toBe('/hub/applets/api/applet/file');
    expect(Object.fromEntries(url.searchParams)).toEqual({ session: 'nb.ipynb', windowId: 'w', revision: '3', path: 'data/ä b.bin', raw: '1' });
    expect(options).toMatchObject({ credentials: 'same-origin', headers: { Authorization: 'token secret', 'X-XSRFToken': '2|abc' } });
  });

  it('a file goes as its bytes, and may replace one version only', async () => {
    fetched.mockResolvedValue(Response.json({ ok: true, version: '8' }));
    expect(await files.write({ ...BY, consent: true }, { path: 'a', content: 'ä', ifMatch: '7' })).toBe('8');
    const { url, options } = asked();
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ ifMatch: '7', consent: '1' });
    expect(options).toMatchObject({ method: 'POST', headers: { 'Content-Type': 'application/octet-stream' } });
    expect([...(options.body as Uint8Array)]).toEqual([0xc3, 0xa4]);
  });

  it('a folder comes as its entries', async () => {
    fetched.mockResolvedValue(Response.json({ files: [{ name: 'a' }] }));
    expect(await files.list(BY, '')).toEqual([{ name: 'a' }]);
    expect(asked().url.pathname).toBe('/hub/applets/api/applet/list');
  });

  it('an error is the host’s, with its code', async () => {
    fetched.mockResolvedValue(Response.json({ code: 'PERMISSION_NEEDED', message: 'No.' }, { status: 403 }));
    await expect(files.read(BY, 'a')).rejects.toMatchObject({ code: 'PERMISSION_NEEDED', message: 'No.' });
  });

  it('an error of something else is told by its status', async () => {
    fetched.mockResolvedValue(new Response('<html>', { status: 502, statusText: 'Bad Gateway' }));
    await expect(files.read(BY, 'a')).rejects.toMatchObject({ code: 'STORAGE_FAILED', message: 'The server answered 502 Bad Gateway.' });
  });

  it('a server that cannot be reached is a lost link', async () => {
    fetched.mockRejectedValue(new TypeError('Failed to fetch'));
    await expect(files.list(BY, 'a')).rejects.toMatchObject({ code: 'LINK_LOST' });
  });
});
