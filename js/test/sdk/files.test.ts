// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Calls } from '../../src/sdk/calls.js';
import { Files } from '../../src/sdk/files.js';
import { OwnFiles } from '../../src/sdk/own.js';
import type { Port } from '../../src/sdk/port.js';

let sent: any[];
let transferred: unknown[];
let calls: Calls;
let files: Files;
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const bytes = (...values: number[]): ArrayBuffer => Uint8Array.from(values).buffer;
const text = (value: string): ArrayBuffer => new TextEncoder().encode(value).buffer as ArrayBuffer;

/** Answers the call that was made last. */
async function answer(reply: object): Promise<void> {
  await tick();
  calls.settle({ type: 'applet:reply', id: sent.at(-1).id, ...reply });
}

beforeEach(() => {
  vi.restoreAllMocks();
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.stubGlobal('reportError', vi.fn());
  sent = [];
  const port = {
    send(message: unknown, transfer: unknown[] = []) {
      sent.push(message);
      transferred = transfer;
    },
  };
  calls = new Calls(port as unknown as Port);
  files = new Files(calls.call, new OwnFiles({ 'own.txt': { text: 'mine' } }));
});

describe('a call', () => {
  it('has one reply, found by its id', async () => {
    const [first, second] = [files.read('a'), files.read('b')];
    await tick();
    expect(sent).toEqual([
      { type: 'applet:call', id: 1, method: 'readFile', args: { path: 'a' } },
      { type: 'applet:call', id: 2, method: 'readFile', args: { path: 'b' } },
    ]);
    calls.settle({ type: 'applet:reply', id: 2, value: { blob: new Blob([text('B')]), version: '1' } });
    calls.settle({ type: 'applet:reply', id: 1, value: { blob: new Blob([text('A')]), version: '1' } });
    calls.settle({ type: 'applet:reply', id: 1, error: 'again' });
    calls.settle({ type: 'applet:reply', id: 99 });
    expect([await first, await second]).toEqual(['A', 'B']);
  });

  it('that fails is an error with its code', async () => {
    const read = files.read('a');
    await answer({ error: 'There is no a.', code: 'FILE_MISSING' });
    await expect(read).rejects.toMatchObject({ message: 'There is no a.', code: 'FILE_MISSING' });
  });
});

describe('reading', () => {
  const read = async (as: 'text' | 'bytes' | 'json' | undefined, content: ArrayBuffer): Promise<unknown> => {
    const value = files.read('a', as ? { as } : undefined);
    await answer({ value: { blob: new Blob([content]), version: '1' } });
    return value;
  };

  it('gives text, bytes or what the JSON holds', async () => {
    expect(await read(undefined, text('ä'))).toBe('ä');
    expect(await read('bytes', bytes(1, 255))).toEqual(Uint8Array.of(1, 255));
    expect(await read('json', text('{"a":1}'))).toEqual({ a: 1 });
  });

  it('says what to do with what is no text, and what is no JSON', async () => {
    await expect(read('text', bytes(255))).rejects.toThrow("{as: 'bytes'}");
    await expect(read('json', text('{'))).rejects.toThrow("'a' is no JSON");
  });

  it('refuses what it does not know', async () => {
    await expect(files.read('a', { as: 'xml' as never })).rejects.toThrow(/as must be/);
    await expect(files.read(5 as never)).rejects.toThrow(/path must be a string/);
    expect(sent).toEqual([]);
  });
});

describe('writing', () => {
  const whole = Uint8Array.of(1, 2, 3, 4);
  it.each<[string, any, unknown]>([
    ['text', 'ä', 'ä'],
    ['a buffer', whole.buffer, bytes(1, 2, 3, 4)],
    ['a part of a buffer', whole.subarray(1, 3), bytes(2, 3)],
    ['a view', new DataView(whole.buffer, 2), bytes(3, 4)],
    ['a blob', new Blob(['ab']), text('ab')],
  ])('%s sends it, and leaves the applet its own', async (_, content, arrives) => {
    const written = files.write('a', content, { ifMatch: 'v1' });
    await answer({ value: { version: 'v2' } });
    expect(await written).toEqual({ version: 'v2' });
    expect(sent).toEqual([{ type: 'applet:call', id: 1, method: 'writeFile', args: { path: 'a', content: arrives, ifMatch: 'v1' } }]);
    expect(transferred).toEqual(typeof content === 'string' ? [] : [sent[0].args.content]);
    expect(transferred).not.toContain(whole.buffer);
  });

  it('takes the content as it is when it is given', async () => {
    const content = Uint8Array.of(1);
    void files.write('a', content);
    content[0] = 2;
    await tick();
    expect(sent[0].args.content).toEqual(bytes(1));
  });

  it.each([{ a: 1 }, null, 5, undefined])('%o is refused with what to do', async (content) => {
    await expect(files.write('a', content as never)).rejects.toThrow(/JSON\.stringify/);
  });
});

it('listing gives the entries, of the root when no folder is named', async () => {
  const list = files.list();
  await answer({ value: { files: [{ name: 'a' }] } });
  expect(await list).toEqual([{ name: 'a' }]);
  expect(sent[0].args).toEqual({ path: '' });
});

describe('a subscription', () => {
  const changed = (path: string): void => files.notice({ type: 'applet:file-changed', path, event: 'modified' });

  it('is one for a path, however many listen, until the last is gone', () => {
    const [first, second] = [vi.fn(), vi.fn()];
    const stop = [files.subscribe('a', first), files.subscribe('a', second)];
    changed('a');
    changed('ab');
    expect([first.mock.calls, second.mock.calls]).toEqual([[[{ path: 'a', event: 'modified' }]], [[{ path: 'a', event: 'modified' }]]]);
    stop[0]?.();
    stop[0]?.();
    expect(sent.map(({ method }) => method)).toEqual(['subscribeFile']);
    stop[1]?.();
    expect(sent.map(({ method }) => method)).toEqual(['subscribeFile', 'unsubscribeFile']);
    changed('a');
    expect(first).toHaveBeenCalledOnce();
  });

  it.each([['data', 'data/x.csv'], ['data/', 'data/x.csv'], ['', 'x.csv']])('of the folder %j tells of %s', (folder, path) => {
    const heard = vi.fn();
    files.subscribe(folder, heard);
    changed(path);
    expect(heard).toHaveBeenCalledWith({ path, event: 'modified' });
  });

  it('that fails is told in the log, and may be tried again', async () => {
    const heard = vi.fn();
    files.subscribe('a', heard);
    await answer({ error: 'No.', code: 'PERMISSION_DENIED' });
    await tick();
    expect(console.error).toHaveBeenCalledWith("subscribeFile: 'a' is not watched. No.");
    changed('a');
    expect(heard).not.toHaveBeenCalled();
    files.subscribe('a', heard);
    expect(sent.map(({ method }) => method)).toEqual(['subscribeFile', 'subscribeFile']);
  });

  it('goes on when a listener throws', () => {
    const heard = vi.fn();
    files.subscribe('a', () => {
      throw new Error('no');
    });
    files.subscribe('a', heard);
    changed('a');
    expect(heard).toHaveBeenCalledOnce();
    expect(reportError).toHaveBeenCalledOnce();
  });
});

describe('a URL', () => {
  it('has the file’s bytes and its type', async () => {
    const make = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x');
    const url = files.url('plots/a.PNG');
    await answer({ value: { blob: new Blob([bytes(1)]), version: '1' } });
    expect(await url).toBe('blob:x');
    expect(make).toHaveBeenCalledWith(expect.objectContaining({ type: 'image/png', size: 1 }));
  });

  it('of the applet’s own file asks nobody', async () => {
    vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:own');
    expect(await files.url('applet:/own.txt')).toBe('blob:own');
    expect(sent).toEqual([]);
  });
});
