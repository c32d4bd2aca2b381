// @vitest-environment happy-dom
import { parse } from 'es-module-lexer/minimal/js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Modules, installWorkers } from '../../src/sdk/modules.js';
import { OwnFiles } from '../../src/sdk/own.js';

/** The texts of the blob URLs that were made. */
let blobs: Map<string, Promise<string>>;
/** The maps that were put into the document. */
let maps: Record<string, string>[];

beforeEach(() => {
  blobs = new Map();
  maps = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    const url = `blob:${blobs.size}`;
    blobs.set(url, (blob as Blob).text());
    return url;
  });
  vi.spyOn(document.head, 'append').mockImplementation((script) => void maps.push(JSON.parse((script as Element).textContent ?? '').imports));
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.stubGlobal('lexerForTest', parse);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  for (const name of ['__appletResolve', '__appletMeta']) Reflect.deleteProperty(window, name);
});

const files = (sources: Record<string, string>): OwnFiles =>
  new OwnFiles(Object.fromEntries(Object.entries(sources).map(([path, text]) => [path, { text }])));
const make = (sources: Record<string, string>, named = {}): Modules => new Modules(files(sources), named, 'lexerForTest');

/** What the map leads to. */
async function mapped(sources: Record<string, string>, named = {}): Promise<Record<string, string | undefined>> {
  make(sources, named).install();
  const entries = Object.entries(maps[0] ?? {}).map(async ([name, url]) => [name, await blobs.get(url)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

describe('the import map', () => {
  it('has the files by their place, and modules by their name', async () => {
    const named = { d3: 'applet:/vendor/d3.mjs', own: "export * from './x.js'" };
    expect(await mapped({ 'a b.js': "import './vendor/d3.mjs'", 'vendor/d3.mjs': '1', 'data.json': '{}', 'notes.txt': '' }, named)).toEqual({
      'applet:/a%20b.js': "import 'applet:/vendor/d3.mjs'\n//# sourceURL=applet/a b.js",
      'applet:/vendor/d3.mjs': '1\n//# sourceURL=applet/vendor/d3.mjs',
      'applet:/data.json': '{}',
      d3: '1\n//# sourceURL=applet/vendor/d3.mjs',
      own: "export * from 'applet:/modules/x.js'\n//# sourceURL=applet/modules/own",
    });
    expect(maps[0]?.['d3']).toBe(maps[0]?.['applet:/vendor/d3.mjs']);
  });

  it('is not made for nothing', async () => {
    await mapped({ 'notes.txt': 'x' });
    expect(maps).toEqual([]);
  });

  it('tells of what it cannot have', async () => {
    await mapped({ 'a.js': "import './none.js'; import('./maybe.js')" }, { d3: 'applet:/d3.js' });
    expect(vi.mocked(console.error).mock.calls).toEqual([
      ["a.js imports './none.js', which is not among the applet's files."],
      ["The module 'd3' is to be d3.js, which is not among the applet's files."],
    ]);
  });
});

it('rewritten code finds where it is, and where it leads', async () => {
  await mapped({});
  const { __appletResolve: resolve, __appletMeta: meta } = window as any;
  expect([resolve('./b.js', 'applet:/lib/a.js'), resolve('d3', 'applet:/a.js')]).toEqual(['applet:/lib/b.js', 'd3']);
  expect(meta('applet:/a.js')).toBe(meta('applet:/a.js'));
  expect([meta('applet:/a.js').url, meta('applet:/a.js').resolve('./b.js')]).toEqual(['applet:/a.js', 'applet:/b.js']);
});

describe('a module worker', () => {
  const text = (url: string): string => new TextDecoder().decode(Uint8Array.from(atob(url.split('base64,')[1] ?? ''), (c) => c.charCodeAt(0)));

  it('has in it what it imports', () => {
    const modules = make({ 'w.js': "import 'lib'; import './sub/x.js'; go(import.meta.url)", 'sub/x.js': "import '../y.js'", 'y.js': '"ü"' }, { lib: 'lib()' });
    const [, lib = '', x = ''] = /^import '(.*?)'; import '(.*?)'; go\(\(\{url:"applet:\/w\.js"\}\)\.url\)$/.exec(text(modules.workerUrl('w.js'))) ?? [];
    expect(text(lib)).toBe('lib()');
    expect(text(/'(.*)'/.exec(text(x))?.[1] ?? '')).toBe('"ü"');
  });

  it('whose modules go in a circle is refused with the way', () => {
    const modules = make({ 'a.js': "import './b.js'", 'b.js': "import './a.js'" });
    expect(() => modules.workerUrl('a.js')).toThrow('in a circle: applet:/a.js → applet:/b.js → applet:/a.js.');
  });
});

it('a worker is made of the applet’s own file, or as the browser would', () => {
  const made: string[] = [];
  vi.stubGlobal('Worker', class { constructor(url: string) { made.push(url); } });
  const own = files({ 'w.js': 'x' });
  installWorkers(new Modules(own), own);
  for (const url of ['applet:/w.js', './w.js', new URL('./w.js', 'applet:/a.js'), 'blob:other', 'data:,1']) new Worker(url);
  new Worker('w.js', { type: 'module' });
  expect(made).toEqual(['blob:0', 'blob:0', 'blob:0', 'blob:other', 'data:,1', `data:text/javascript;base64,${btoa('x')}`]);
  expect(() => new Worker('applet:/none.js')).toThrow('the applet has no file none.js');
});
