import { expect, it } from 'vitest';
import { needsLexer } from '../../src/lexer/needed.js';

it.each([
  { js: "import './util.js'" },
  { js: 'import{a}from"../x.js"' },
  { js: "export * from '/x.js'" },
  { js: 'const m = await import (name)' },
  { js: 'go(import.meta.url)' },
  { modules: { lib: "export { a } from './a.js'" } },
  { files: { 'a.mjs': { text: "import './b.js'" } } },
  { js: "new Worker('w.js', {type: 'module'})", files: { 'w.js': { text: "import 'lib'" } } },
])('%j needs the lexer', (content) => {
  expect(needsLexer(content)).toBe(true);
});

it.each([
  {},
  { js: "import * as d3 from 'd3'" },
  { js: "const important = './x.js'; exports.from = './y.js'" },
  { js: 'new Worker(URL.createObjectURL(blob))' },
  { files: { 'notes.txt': { text: "import './b.js'" }, 'a.js': { base64: 'AA==' } } },
])('%j does not', (content) => {
  expect(needsLexer(content)).toBe(false);
});
