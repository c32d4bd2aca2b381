import { parse } from 'es-module-lexer/minimal/js';
import { expect, it } from 'vitest';
import { resolveSpecifier, rewrite } from '../../src/sdk/rewrite.js';

const how = { specifier: resolveSpecifier, resolver: 'R', meta: (base: string) => `M(${JSON.stringify(base)})` };
const written = (source: string): string => rewrite(parse, source, 'applet:/lib/a.js', how);

it.each([
  ["import './b.js'", "import 'applet:/lib/b.js'"],
  ['import {x} from "../b.js"; export * from\'/c.js\'', 'import {x} from "applet:/b.js"; export * from\'applet:/c.js\''],
  ["import x from './it\\'s.js'", "import x from 'applet:/lib/it\\'s.js'"],
  ["import x from './my file.js'", "import x from 'applet:/lib/my%20file.js'"],
  ["import d from './d.json' with {type: 'json'}", "import d from 'applet:/lib/d.json' with {type: 'json'}"],
  ["await import('./b.js')", 'await import("applet:/lib/b.js")'],
  ['import(name, {with: {}})', 'import(R(name,"applet:/lib/a.js"), {with: {}})'],
  ['import(await import("./b.js"))', 'import(R(await import("applet:/lib/b.js"),"applet:/lib/a.js"))'],
  ['import(`./${name}.js`)', 'import(R(`./${name}.js`,"applet:/lib/a.js"))'],
  ['new URL("x", import.meta.url)', 'new URL("x", M("applet:/lib/a.js").url)'],
])('%j becomes %j', (source, result) => {
  expect(written(source)).toBe(result);
});

it.each([
  "import d3 from 'd3'; import('d3')",
  "import 'https://example.com/x.js'; import '//example.com/x.js'; import 'data:text/javascript,1'",
  "const text = \"import './b.js'\"; // import './b.js'",
  'let = = broken import("./b.js"',
])('%j stays as it is', (source) => {
  expect(written(source)).toBe(source);
});

it('no line is added or lost', () => {
  const source = "import {\n  a,\n} from './b.js';\n\nconst x = import.meta.url;\nimport(\n  x,\n);\n";
  expect(written(source).split('\n')).toHaveLength(source.split('\n').length);
});
