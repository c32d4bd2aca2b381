import { expect, it, vi } from 'vitest';
import { cleanManifest } from '../../src/frame/manifest.js';

const empty = { appId: '', name: '', state: {}, commands: {} };

it('leaves a right manifest as it is', () => {
  const manifest = {
    appId: 'sheet',
    name: 'Sheet',
    state: { cells: { description: 'All', schema: { type: 'object' }, snapshot: true } },
    commands: { set: { description: 'Set', params: { type: 'object' }, returns: true, replay: 'last' } },
    replay: 'never',
  };
  expect(cleanManifest(manifest)).toEqual(manifest);
});

it.each([null, undefined, 5, 'x', [], [{}]])('finds no manifest in %j', (value) => {
  expect(cleanManifest(value)).toBeNull();
});

it('finds no manifest in what no JSON can say, and warns', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  expect(cleanManifest({ state: { a: { schema: { minimum: 1n } } } })).toBeNull();
  expect(warn).toHaveBeenCalledOnce();
  warn.mockRestore();
});

it.each([
  [{}, empty],
  [{ appId: 5, name: {}, state: [], commands: 'x', replay: 'sometimes', other: 1 }, empty],
  [{ state: { a: null, b: 5, c: { description: 7, schema: 'x', snapshot: 'yes', other: 1 } } }, { ...empty, state: { c: { description: '' } } }],
  [{ commands: { a: { params: [], returns: 5, replay: 1 } } }, { ...empty, commands: { a: { description: '' } } }],
])('keeps of %j what fits', (value, clean) => {
  expect(cleanManifest(value)).toEqual(clean);
});

it('takes __proto__ for a name like any other', () => {
  const clean = cleanManifest(JSON.parse('{"state":{"__proto__":{"description":"x"}}}'));
  expect(Object.keys(clean?.state ?? {})).toEqual(['__proto__']);
});
