// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { join } from '../../src/files/messages.js';
import type { FileContent } from '../../src/protocol.gen.js';
import { greet, passed, Viewing } from '../viewing.js';

let page: Viewing;

const call = (id: number, method: string, args: object): object => ({ type: 'applet:call', id, method, args });
const needed = (id: string, code = 'PERMISSION_NEEDED'): void => page.hear({ type: 'error', id, code, message: 'A person has to agree.' });
const reply = async (id: number): Promise<any> => {
  const found = (): any => page.posted.find((message) => message.type === 'applet:reply' && message.id === id);
  await passed(() => found() !== undefined);
  return found();
};

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  page = new Viewing({ title: 'Sheet', html: 'one' });
  page.tell();
  page.start();
  await page.sent();
});
afterEach(() => {
  page.view.dispose();
  vi.useRealTimers();
});

describe('a file call', () => {
  it('that reads brings the bytes of all pieces', async () => {
    page.say(call(1, 'readFile', { path: 'a.bin' }));
    const { id, ...asked } = await page.next('readFile');
    expect(asked).toEqual({ type: 'readFile', windowId: 'w', path: 'a.bin', consent: false, revision: 1 });
    page.hear({ type: 'fileContent', path: 'a.bin', id, chunk: 'aä', done: false });
    page.hear({ type: 'fileContent', path: 'a.bin', id, chunk: '/wA=', encoding: 'base64', done: true, version: '7' });
    // A blob of this test's DOM does not go through a port as one of a browser does.
    expect((await reply(1)).value.version).toBe('7');
    const pieces = [{ chunk: 'aä' }, { chunk: '/wA=', encoding: 'base64' }] as FileContent[];
    expect([...new Uint8Array(join(pieces))]).toEqual([97, 0xc3, 0xa4, 0xff, 0]);
  });

  it('that writes sends text as text and bytes as base64', async () => {
    page.say(call(1, 'writeFile', { path: 'a.txt', content: 'ä', ifMatch: '1' }));
    const text = await page.next('writeFile');
    expect(text).toMatchObject({ content: 'ä', ifMatch: '1' });
    expect(text.encoding).toBeUndefined();
    page.hear({ type: 'fileWritten', path: 'a.txt', version: '2', id: text.id });
    expect((await reply(1)).value).toEqual({ version: '2' });
    page.say(call(2, 'writeFile', { path: 'a.bin', content: Uint8Array.of(255, 0).buffer }));
    expect(await page.next('writeFile')).toMatchObject({ content: '/wA=', encoding: 'base64' });
  });

  it('that lists brings the entries', async () => {
    page.say(call(1, 'listFiles', { path: '' }));
    const { id } = await page.next('listFiles');
    const files = [{ name: 'a', type: 'file', size: 1, modified: '2026-01-01T00:00:00Z' }];
    page.hear({ type: 'fileList', path: '', files, id });
    expect((await reply(1)).value).toEqual({ files });
  });

  it.each([
    ['readFile', { path: 5 }],
    ['writeFile', { path: 'a', content: 5 }],
    ['formatDisk', { path: 'a' }],
  ])('%s of the wrong shape (%j) is refused', async (method, args) => {
    page.say(call(1, method, args));
    expect(await reply(1)).toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  it('that the host refuses rejects with its code and words', async () => {
    page.say(call(1, 'readFile', { path: 'a' }));
    const { id } = await page.next('readFile');
    page.hear({ type: 'error', id, code: 'FILE_MISSING', message: "There is no 'a'." });
    expect(await reply(1)).toEqual({ type: 'applet:reply', id: 1, error: "There is no 'a'.", code: 'FILE_MISSING' });
  });

  it('under way when the pipe goes, or made while it is gone, says so', async () => {
    page.say(call(1, 'readFile', { path: 'a' }));
    await page.next('readFile');
    page.pipe.events.lost();
    page.say(call(2, 'readFile', { path: 'a' }));
    expect([(await reply(1)).code, (await reply(2)).code]).toEqual(['LINK_LOST', 'LINK_LOST']);
  });
});

describe('a file call that needs a person', () => {
  let id: string;

  beforeEach(async () => {
    page.say(call(1, 'readFile', { path: 'data/a.csv' }));
    ({ id } = await page.next('readFile'));
    needed(id);
    await passed(() => page.bars.length === 1);
  });

  it('asks in words, together with others of its kind', async () => {
    expect(page.bars).toEqual(['“Sheet” wants to read “data/a.csv”. Always and Deny hold for all files.']);
    page.say(call(2, 'readFile', { path: 'data/b.csv' }));
    needed((await page.next('readFile')).id);
    await passed(() => page.bars[0]?.includes('b.csv') === true);
    expect(page.bars).toEqual(['“Sheet” wants to read “data/a.csv”, “data/b.csv”. Always and Deny hold for all files.']);
    page.choose('Allow once');
    await passed(() => page.pipe.frames.flat().length === 2);
    expect(await page.sent()).toMatchObject([
      { type: 'readFile', path: 'data/a.csv', consent: true },
      { type: 'readFile', path: 'data/b.csv', consent: true },
    ]);
    expect(page.bars).toEqual([]);
  });

  it('is done again when the host has kept that it always may', async () => {
    page.choose('Always for this applet');
    const permit = await page.next('permit');
    expect(permit).toMatchObject({ windowId: 'w', permission: 'files', value: 'read' });
    page.hear({ type: 'result', id: permit.id });
    expect(await page.next('readFile')).toMatchObject({ path: 'data/a.csv', consent: false });
    expect(page.bars).toEqual(['This applet may read files.']);
  });

  it('is denied, and the host remembers, when the person says no', async () => {
    page.choose('Deny');
    const permit = await page.next('permit');
    expect(permit).toMatchObject({ permission: 'files', value: false });
    page.hear({ type: 'result', id: permit.id });
    expect(await reply(1)).toMatchObject({ code: 'PERMISSION_DENIED', error: '“Sheet” wants to read “data/a.csv”. A person said no.' });
    expect(page.bars).toEqual([]);
  });

  it('leaves no question behind when its document goes', async () => {
    greet('applet:leaving');
    expect(page.bars).toEqual([]);
    page.start();
    await page.gets('applet:visible');
    expect(page.posted.some(({ type }) => type === 'applet:reply')).toBe(false);
  });
});

it('a write over a file that the applet has not read is asked about, and a no holds for that file and document', async () => {
  page.say(call(1, 'writeFile', { path: 'config.yaml', content: 'a' }));
  needed((await page.next('writeFile')).id, 'CONSENT_NEEDED');
  await passed(() => page.bars.length === 1);
  expect(page.bars).toEqual(['“Sheet” wants to overwrite “config.yaml”, which it has not read.']);
  expect(() => page.button('Always for this applet')).toThrow();
  page.choose('Deny');
  expect(await reply(1)).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(await page.types()).toEqual([]);

  const again = async (id: number, path: string): Promise<void> => {
    page.say(call(id, 'writeFile', { path, content: 'a' }));
    needed((await page.next('writeFile')).id, 'CONSENT_NEEDED');
  };
  await again(2, 'config.yaml');
  expect(await reply(2)).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(page.bars).toEqual([]);
  await again(3, 'other.yaml');
  await passed(() => page.bars.length === 1);
  greet('applet:leaving');
  page.start();
  await again(4, 'config.yaml');
  await passed(() => page.bars.length === 1);
});

it('a call that nobody can be asked about, for all the bars, is refused as the host did, and nobody has said no', async () => {
  page.say(...Array.from({ length: 20 }, (_, at) => ({ type: 'applet:link', url: `https://example.com/${at}` })));
  await passed(() => page.bars.length === 20);
  page.say(call(1, 'readFile', { path: 'a.csv' }));
  needed((await page.next('readFile')).id);
  expect(await reply(1)).toMatchObject({ code: 'PERMISSION_NEEDED', error: 'A person has to agree.' });
  expect(await page.types()).toEqual([]);
  // What was dismissed makes room.
  page.button('Dismiss').click();
  page.say(call(2, 'readFile', { path: 'a.csv' }));
  needed((await page.next('readFile')).id);
  await passed(() => page.bars.length === 20);
  expect(page.button('Allow once')).toBeTruthy();
});

describe('a subscription', () => {
  beforeEach(async () => {
    page.say(call(1, 'subscribeFile', { path: 'data' }));
    const { id } = await page.next('subscribe');
    page.hear({ type: 'result', id });
    expect((await reply(1)).value).toBeNull();
  });

  it('brings changes of the file, or in the folder, and of nothing else', async () => {
    const change = (path: string): object => ({ type: 'fileChanged', path, event: 'modified', windowId: 'w' });
    page.hear(change('data2'), change('other'), change('data/a.csv'));
    expect(await page.gets('applet:file-changed')).toEqual({ type: 'applet:file-changed', path: 'data/a.csv', event: 'modified' });
  });

  it('is made again after a cut', async () => {
    page.pipe.events.lost();
    page.pipe.events.opened();
    expect(await page.sent()).toMatchObject([{ type: 'hello' }, { type: 'subscribe', windowId: 'w', path: 'data', revision: 1 }]);
  });

  it('ends when it is given up, and with its document', async () => {
    page.say(call(2, 'unsubscribeFile', { path: 'data' }));
    expect(await page.next('unsubscribe')).toEqual({ type: 'unsubscribe', windowId: 'w', path: 'data' });
    page.say(call(3, 'subscribeFile', { path: 'other' }));
    await page.next('subscribe');
    greet('applet:leaving');
    expect(await page.types()).toEqual(['unsubscribe', 'viewOpened']);
  });
});
