// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Call, CallError } from '../../src/sdk/calls.js';
import { Files } from '../../src/sdk/files.js';
import { OwnFiles } from '../../src/sdk/own.js';
import { Sources } from '../../src/sdk/sources.js';

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
let asked: string[];
let sources: Sources;

beforeEach(() => {
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => `blob:${(blob as Blob).type}`);
  vi.spyOn(console, 'error').mockImplementation(() => {});
  asked = [];
  const call = async (_: string, { path }: { path: string }): Promise<unknown> => {
    asked.push(path);
    if (path === 'none.png') throw new CallError('There is none.', 'FILE_MISSING');
    return { blob: new Blob([new ArrayBuffer(1)]), version: '1' };
  };
  const own = new OwnFiles({ 'img/own.svg': { text: '<svg/>' }, 'util.js': { text: '1' } });
  sources = new Sources(new Files(call as unknown as Call, own), own);
  document.body.innerHTML = '';
});
afterEach(() => vi.restoreAllMocks());

async function loaded(html: string): Promise<string> {
  document.body.innerHTML = html;
  sources.end();
  await tick();
  return document.body.innerHTML;
}

it.each([
  ['<img src="img/own.svg">', '<img src="blob:image/svg+xml">', []],
  ['<img src="applet:/img/own.svg">', '<img src="blob:image/svg+xml">', []],
  ['<img src="plots/a.png">', '<img src="blob:image/png">', ['plots/a.png']],
  ['<video src="/data/a.mp4"></video>', '<video src="blob:video/mp4"></video>', ['/data/a.mp4']],
  ['<input type="image" src="a.png">', '<input type="image" src="blob:image/png">', ['a.png']],
])('%s becomes %s', async (html, result, paths) => {
  expect([await loaded(html), asked]).toEqual([result, paths]);
});

it.each(['<img src="data:image/png;base64,AA==">', '<img src="https://a.com/x.png">', '<img src="//a.com/x.png">', '<img src="#x">', '<img src="">', '<img>', '<a href="a.png"></a>', '<link rel="icon" href="a.png">', '<input src="a.png">'])(
  '%s is left as it is',
  async (html) => {
    expect([await loaded(html), asked]).toEqual([html, []]);
  },
);

it('what is not there is in the log, and is no failed load of the browser’s', async () => {
  await loaded('<img src="none.png">');
  expect(console.error).toHaveBeenCalledWith('Could not load <img> none.png: There is none.');
  expect(sources.isOurs(document.querySelector('img') as Element)).toBe(true);
});

it('what the browser loads fails as the browser says', async () => {
  await loaded('<img id="a" src="https://a.com/x.png"><img id="b" src="a.png">');
  expect(['a', 'b'].map((id) => sources.isOurs(document.getElementById(id) as Element))).toEqual([false, false]);
});

it('elements are taken while the document is parsed', async () => {
  sources.watch();
  document.body.innerHTML = '<p><img src="a.png"></p>';
  await tick();
  expect(asked).toEqual(['a.png']);
  sources.end();
  await tick();
  expect(asked).toEqual(['a.png']);
});
