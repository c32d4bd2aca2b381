// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Standalone } from '../../src/sdk/standalone.js';

const config = {
  key: '', js: 'js', css: '', theme: { dark: false, variables: {} }, slug: 'sheet', state: { a: 1 },
  standalone: { snapshot: { v: 1 }, commands: [{ command: 'add', params: { n: 1 } }, { command: 'add', params: { n: 2 } }] },
};
let told: any[];
const start = (fields = {}): Standalone => new Standalone(structuredClone({ ...config, ...fields }), (message) => told.push(message));
const say = (standalone: Standalone, ...messages: object[]): void => standalone.postMessage(messages);
const ready = (hydrates: boolean) => ({ type: 'yaar:app-ready', hydrates });
const done = { type: 'yaar:app-command-response', requestId: 'x', error: null };

beforeEach(() => {
  localStorage.clear();
  told = [];
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

describe('an exported applet', () => {
  it('is brought back by its snapshot and its commands, one at a time and once', () => {
    const standalone = start();
    say(standalone, ready(true));
    expect(told).toEqual([{ type: 'yaar:app-hydrate-request', requestId: 'restore', state: { v: 1 } }]);
    say(standalone, { ...done, type: 'yaar:app-hydrate-response' });
    expect(told[1]).toMatchObject({ type: 'yaar:app-command-request', command: 'add', params: { n: 1 }, replayed: true });
    expect(told).toHaveLength(2);
    say(standalone, { ...done, error: 'no' }, done, ready(true));
    expect(told).toHaveLength(3);
    expect(console.warn).toHaveBeenCalledOnce();
  });

  it('that does not hydrate is brought back by its commands', () => {
    say(start(), ready(false));
    expect(told).toMatchObject([{ command: 'add', params: { n: 1 } }]);
  });

  it('has no workspace, and says so', () => {
    say(start(), { type: 'applet:call', id: 7, method: 'readFile', args: {} });
    expect(told).toEqual([{ type: 'applet:reply', id: 7, error: expect.stringMatching(/has no workspace/), code: 'STANDALONE' }]);
  });
});

it('an exported applet has no agent, and says so', () => {
  say(start(), { type: 'applet:call', id: 7, method: 'agent', args: {} });
  expect(told).toEqual([{ type: 'applet:reply', id: 7, error: 'There is no agent in an exported file.', code: 'NO_AGENT' }]);
});

describe('what the applet says', () => {
  beforeEach(() => {
    say(start(), { type: 'applet:set-state', data: { b: 2, __storage: { x: '1' } } }, { type: 'yaar:app-snapshot', state: { v: 9 } });
  });

  it('is there the next time, and newer than what the file has', () => {
    const again = start();
    expect(again.state).toEqual({ a: 1, b: 2, __storage: { x: '1' } });
    say(again, ready(true), { ...done, type: 'yaar:app-hydrate-response' });
    expect(told).toEqual([{ type: 'yaar:app-hydrate-request', requestId: 'restore', state: { v: 9 } }]);
  });

  it('is not mixed with another applet, nor with a newer export', () => {
    expect(start({ slug: 'other' }).state).toEqual({ a: 1 });
    expect(start({ state: { a: 2 } }).state).toEqual({ a: 2 });
  });

  it('is lost where the browser keeps nothing, and nothing else is', () => {
    vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
      throw new DOMException('no', 'SecurityError');
    });
    const standalone = start();
    say(standalone, { type: 'applet:set-state', data: { c: 3 } });
    expect(standalone.state).toEqual({ a: 1, c: 3 });
  });
});
