import { beforeEach, expect, it } from 'vitest';
import { memoryStorage } from '../../src/sdk/storage.js';

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
