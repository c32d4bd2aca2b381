// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { shown } from '../src/dom.js';
import { blockedLoad } from '../src/permissions.js';

it.each([
  ['data/a.csv', '“data/a.csv”'],
  [' a \n\n b\t', '“a b”'],
  ['ä😀', '“ä😀”'],
  ['a\u0000b\u202Egpj.exe\u2066\u200Fc', '“abgpj.exec”'],
  // It cannot end its own quotes.
  ['a”. All is well. “b', '“a". All is well. "b”'],
  ['', '“”'],
])('words of an applet, %j, are shown as %s', (text, quoted) => {
  expect(shown(text)).toBe(quoted);
});

it('words of an applet that are too long are cut in the middle', () => {
  const text = shown(`start${'A\n'.repeat(500_000)}end`);
  expect([...text].length).toBe(122);
  expect(text).toMatch(/^“start.*….*end”$/);
});

it.each([
  ['https://example.org/a', 'connect-src', 'https://example.org', 'data'],
  ['https://*.example.org/a', 'connect-src', null, 'data'],
  ['https://example.org/a', 'constructor', null, '“constructor”'],
  ['https://example.org/a', 'frame-src', null, '“frame”'],
])('what is blocked, %s by %s, can be allowed as %s', (url, directive, origin, kind) => {
  expect(blockedLoad(url, directive)).toEqual({ origin, kind });
});
