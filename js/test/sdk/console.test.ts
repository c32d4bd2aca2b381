// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConsoleLog, textOf } from '../../src/sdk/console.js';
import type { Port } from '../../src/sdk/port.js';

describe('the text of', () => {
  const cycle: { a: number; self?: unknown; twice?: unknown } = { a: 1 };
  cycle.self = cycle;
  const shared = { b: 2 };

  it.each([
    ['text', 'as it is', 'as it is'],
    ['a number', 5, '5'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a BigInt', 10n, '10'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object', { a: [1, { b: 'x' }] }, '{"a":[1,{"b":"x"}]}'],
    ['an object with what JSON has no word for', { f: function go() {}, n: 1n }, '{"f":"[function go]","n":"1n"}'],
    ['a cycle', cycle, '{"a":1,"self":"[circular]"}'],
    ['the same thing twice', [shared, shared], '[{"b":2},{"b":2}]'],
    ['an object that throws', { toJSON: () => { throw new Error(); } }, '[object Object]'],
  ])('%s', (_, value, text) => {
    expect(textOf(value)).toBe(text);
  });

  it('an error is its stack, without the SDK’s part', () => {
    const error = new TypeError('no');
    error.stack = 'TypeError: no\n    at go (applet.js:1:2)\n    at x (applet-sdk.js:1:3)';
    expect(textOf(error)).toBe('TypeError: no\n    at go (applet.js:1:2)');
    error.stack = 'go@applet.js:1:2';
    expect(textOf(error)).toBe('TypeError: no\ngo@applet.js:1:2');
  });

  it('something endless is cut', () => {
    expect(textOf('x'.repeat(5000))).toHaveLength(1000);
    expect(textOf(Array.from({ length: 1e6 }, (_, i) => i))).toHaveLength(1000);
  });
});

describe('the log', () => {
  let sent: any[];
  let log: ConsoleLog;
  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    log = new ConsoleLog({ send: (message: unknown) => sent.push(message) } as unknown as Port);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('has what goes to the console, which keeps it too', () => {
    const original = vi.spyOn(console, 'info').mockImplementation(() => {});
    const { debug, log: plain, info, warn, error } = console;
    log.capture();
    console.info('a', { b: 1 });
    Object.assign(console, { debug, log: plain, info, warn, error });
    vi.advanceTimersByTime(50);
    expect(original).toHaveBeenCalledWith('a', { b: 1 });
    expect(sent).toMatchObject([{ type: 'yaar:console', level: 'info', args: ['a', '{"b":1}'] }]);
  });

  it('counts what comes too fast', () => {
    for (let i = 0; i < 500; i += 1) log.add('log', [i]);
    vi.advanceTimersByTime(50);
    expect(sent).toHaveLength(201);
    expect(sent.at(-1)).toEqual({ type: 'applet:dropped', count: 300 });
    log.add('log', ['later']);
    vi.advanceTimersByTime(50);
    expect(sent.at(-1)).toMatchObject({ args: ['later'] });
  });
});
