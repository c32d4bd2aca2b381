// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Port } from '../../src/sdk/port.js';
import { AppState } from '../../src/sdk/state.js';

let sent: any[];
let state: AppState;
const start = (initial?: Record<string, unknown>): AppState =>
  (state = new AppState({ send: (message: unknown) => sent.push(message) } as unknown as Port, initial));
const push = (data: Record<string, unknown>, rev = 1): void => state.receive({ type: 'applet:state', data, rev });
const pass = (time: number): Promise<unknown> => vi.advanceTimersByTimeAsync(time);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('reportError', vi.fn());
  sent = [];
  start();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('what is set', () => {
  it('goes out at once, then at most every 16 ms, as one', async () => {
    state.set({ a: 1 });
    state.set({ b: 2 });
    expect(sent).toEqual([]);
    await pass(0);
    expect(sent).toEqual([{ type: 'applet:set-state', data: { a: 1, b: 2 } }]);
    for (let i = 0; i < 100; i += 1) state.set({ a: i });
    await pass(10);
    expect(sent).toHaveLength(1);
    await pass(10);
    expect(sent[1].data).toEqual({ a: 99 });
    await pass(1000);
    expect(sent).toHaveLength(2);
    state.set({ c: 3 });
    await pass(0);
    expect(sent).toHaveLength(3);
  });

  it('is sent only where it is other than before', async () => {
    start({ a: { x: 1 }, b: 2 });
    state.set({ a: { x: 1 }, b: 3 });
    await pass(0);
    expect(sent).toEqual([{ type: 'applet:set-state', data: { b: 3 } }]);
  });

  it('is merged as JSON holds it', () => {
    start({ kept: 1 });
    state.set({ when: new Date(0), gone: undefined, list: [undefined] });
    expect(state.current).toEqual({ kept: 1, when: '1970-01-01T00:00:00.000Z', list: [null] });
  });

  it('cannot be changed behind the back', () => {
    const list = [1];
    state.set({ list });
    list.push(2);
    expect(state.current).toEqual({ list: [1] });
    expect(() => state.current['list'].push(3)).toThrow(TypeError);
    expect(() => Object.assign(state.current, { x: 1 })).toThrow(TypeError);
  });

  it.each([
    [undefined, /give it an object/],
    [5, /give it an object/],
    [[1], /give it an object/],
    [{ a: 1, b: 1n }, /the value of 'b' cannot be sent as JSON/],
    [{ a: 1, f() {} }, /the value of 'f' cannot be sent as JSON: it is a function/],
    [{ a: 1, __storage: {} }, /'__storage' is reserved/],
  ])('and is %o is refused whole', async (data, sentence) => {
    expect(() => state.set(data as never)).toThrow(TypeError);
    expect(() => state.set(data as never)).toThrow(sentence);
    await pass(100);
    expect([state.current, sent]).toEqual([{}, []]);
  });

  it('goes out before anything that may not overtake it', () => {
    state.set({ a: 1 });
    state.flush();
    expect(sent).toHaveLength(1);
  });
});

describe('what is pushed', () => {
  it('is merged and told, and acknowledged when all have heard it', () => {
    const heard = vi.fn(() => expect(sent).toEqual([]));
    start({ a: 1 });
    state.onUpdate(heard);
    push({ b: 2 }, 7);
    expect(heard).toHaveBeenCalledWith({ b: 2 }, { a: 1, b: 2 });
    expect(sent).toEqual([{ type: 'applet:state-seen', rev: 7 }]);
  });

  it('reaches everyone, though one throws', () => {
    const heard = vi.fn();
    state.onUpdate(() => {
      throw new Error('no');
    });
    state.onUpdate(heard);
    push({ a: 1 });
    expect(heard).toHaveBeenCalledOnce();
    expect(reportError).toHaveBeenCalledOnce();
    expect(sent).toHaveLength(1);
  });

  it('is not told to who has gone', () => {
    const heard = vi.fn();
    const stop = state.onUpdate(heard);
    stop();
    stop();
    push({ a: 1 });
    expect(heard).not.toHaveBeenCalled();
  });

  it('is not shown where it is reserved', () => {
    const [heard, kept] = [vi.fn(), vi.fn()];
    state.onUpdate(heard);
    state.onReserved('__storage', kept);
    push({ __storage: { a: '1' }, __snapshot: {} });
    expect([heard.mock.calls, kept.mock.calls, state.current]).toEqual([[], [[{ a: '1' }]], {}]);
    expect(sent).toHaveLength(1);
  });

  it('replaces what waits to be sent', async () => {
    state.set({ a: 1 });
    push({ a: 2 });
    await pass(0);
    expect(sent.at(-1)).toEqual({ type: 'applet:set-state', data: { a: 2 } });
  });
});

describe('a callback', () => {
  it('is told what the document starts with, once, after the code that gave it', async () => {
    start({ a: 1, __storage: {} });
    const heard = vi.fn();
    state.onUpdate(heard);
    expect(heard).not.toHaveBeenCalled();
    await pass(0);
    expect(heard.mock.calls).toEqual([[{ a: 1 }, { a: 1 }]]);
  });

  it('that comes late is told what came before it', async () => {
    push({ a: 1 });
    const heard = vi.fn();
    state.onUpdate(heard);
    await pass(0);
    expect(heard.mock.calls).toEqual([[{ a: 1 }, { a: 1 }]]);
  });

  it('is told nothing of an empty state', async () => {
    start({ __storage: { a: '1' } });
    const heard = vi.fn();
    state.onUpdate(heard);
    await pass(100);
    expect(heard).not.toHaveBeenCalled();
  });

  it('must be a function', () => {
    expect(() => state.onUpdate(5 as never)).toThrow(/onStateUpdate: give it a function/);
  });
});
