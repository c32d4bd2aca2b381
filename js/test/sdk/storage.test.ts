// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Port } from '../../src/sdk/port.js';
import { AppState } from '../../src/sdk/state.js';
import { keptStorage, memoryStorage } from '../../src/sdk/storage.js';

let storage: Storage;
beforeEach(() => {
  storage = memoryStorage();
});

it('keeps items as text, by method and by property', () => {
  storage.setItem('a', 1 as never);
  storage['b'] = 2;
  expect([storage['a'], storage.getItem('b'), storage.length, storage.key(0), storage.key(9)]).toEqual(['1', '2', 2, 'a', null]);
  expect([Object.keys(storage), JSON.stringify(storage), 'a' in storage, 'c' in storage]).toEqual([['a', 'b'], '{"a":"1","b":"2"}', true, false]);
});

it('has null for an item and undefined for a property that is not there', () => {
  expect([storage.getItem('a'), storage['a']]).toEqual([null, undefined]);
});

it('forgets', () => {
  Object.assign(storage, { a: 1, b: 2, c: 3 });
  storage.removeItem('a');
  delete storage['b'];
  expect(Object.keys(storage)).toEqual(['c']);
  storage.clear();
  expect(storage.length).toBe(0);
});

it('takes names of its own methods only as items', () => {
  storage.setItem('getItem', 'x');
  expect([storage.getItem('getItem'), storage.getItem('clear')]).toEqual(['x', null]);
});

it('has the ways of any object', () => {
  storage.setItem('changed', 'x');
  expect([Object.prototype.hasOwnProperty.call(storage, 'changed'), storage['changed'], storage['items']]).toEqual([true, 'x', undefined]);
});

describe('the local one', () => {
  let sent: any[];
  let state: AppState;
  beforeEach(() => {
    sent = [];
    state = new AppState({ send: (message: unknown) => sent.push(message) } as unknown as Port);
    storage = keptStorage(state, { a: '1', bad: 5 });
  });
  const push = (items: object): void => state.receive({ type: 'applet:state', data: { __storage: items }, rev: 1 });

  it('starts with what is kept with the state', () => {
    expect(Object.entries(storage)).toEqual([['a', '1']]);
  });

  it('is kept with the state, as one message', () => {
    storage.setItem('b', '2');
    storage.removeItem('a');
    storage['c'] = 3;
    state.flush();
    expect(sent).toEqual([{ type: 'applet:set-state', data: { __storage: { b: '2', c: '3' } } }]);
    storage.setItem('b', '2');
    storage.removeItem('none');
    state.flush();
    expect(sent).toHaveLength(1);
  });

  it('takes what another view changed, and tells as a browser does', () => {
    const heard = vi.fn();
    window.addEventListener('storage', ({ key, oldValue, newValue, storageArea }) => heard(key, oldValue, newValue, storageArea === storage));
    push({ a: '2', b: '3' });
    push({ a: '2', b: '3' });
    expect([heard.mock.calls, storage.getItem('b')]).toEqual([[['a', '1', '2', true], ['b', null, '3', true]], '3']);
  });

  it('has a quota, counted as things come and go', () => {
    const half = 'x'.repeat(600_000);
    storage.setItem('half', half);
    expect(() => storage.setItem('more', half)).toThrow(expect.objectContaining({ name: 'QuotaExceededError' }));
    expect(storage.getItem('more')).toBeNull();
    storage.setItem('half', 'small');
    storage.setItem('more', half);
    storage.removeItem('more');
    storage.setItem('again', half);
  });
});
