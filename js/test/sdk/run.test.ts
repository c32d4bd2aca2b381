import { expect, it } from 'vitest';
import { isModule } from '../../src/sdk/run.js';

it.each([
  "import x from 'y';",
  "import 'y'",
  'export const a = 1;',
  'const a = 1;\nexport { a };',
  '// @module\nconst a = await f();',
  '/* mine\n @module */ a();',
  '// first\n\n/* second */ // @module\na();',
  'console.log(import.meta.url)',
])('%j is a module', (js) => {
  expect(isModule(js)).toBe(true);
});

it.each([
  '',
  'const a = 1; function go() {}',
  "import('x').then(go)",
  "const text = 'export const a = 1;';",
  '// import x from "y"\ngo()',
  'const important = 1; exports = 2;',
  'a(); // @module',
  'let b = = 1;',
  'await f();',
])('%j is a script', (js) => {
  expect(isModule(js)).toBe(false);
});
