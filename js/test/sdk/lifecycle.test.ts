// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Lifecycle } from '../../src/sdk/lifecycle.js';

let lifecycle: Lifecycle;
let tab: DocumentVisibilityState;
beforeEach(() => {
  tab = 'visible';
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => tab);
  vi.stubGlobal('reportError', vi.fn());
  lifecycle = new Lifecycle();
  lifecycle.listen();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
const turn = (to: DocumentVisibilityState): void => {
  tab = to;
  document.dispatchEvent(new Event('visibilitychange'));
};

it('cleans up once, and all of it, though one throws', () => {
  const [first, last, gone] = [vi.fn(), vi.fn(), vi.fn()];
  lifecycle.onCleanup(first);
  lifecycle.onCleanup(() => {
    throw new Error('no');
  });
  lifecycle.onCleanup(gone)();
  lifecycle.onCleanup(last);
  lifecycle.end();
  lifecycle.end();
  expect([first, last, gone].map((callback) => callback.mock.calls.length)).toEqual([1, 1, 0]);
  expect(reportError).toHaveBeenCalledOnce();
});

it('is visible when tab and page both say so', () => {
  const heard = vi.fn();
  lifecycle.onVisibilityChange(heard);
  lifecycle.show(true);
  lifecycle.show(false);
  turn('hidden');
  expect(lifecycle.visible).toBe(false);
  lifecycle.show(true);
  turn('visible');
  expect(heard.mock.calls).toEqual([[false], [true]]);
});

it('reads visibility fresh', () => {
  tab = 'hidden';
  expect(lifecycle.visible).toBe(false);
});

it('tells no one who has gone', () => {
  const heard = vi.fn();
  lifecycle.onVisibilityChange(heard)();
  lifecycle.show(false);
  expect(heard).not.toHaveBeenCalled();
});

it.each(['onCleanup', 'onVisibilityChange'] as const)('%s takes only functions', (name) => {
  expect(() => lifecycle[name](5 as never)).toThrow(TypeError);
});
