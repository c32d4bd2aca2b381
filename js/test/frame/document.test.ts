import { describe, expect, it } from 'vitest';
import { appletDocument } from '../../src/frame/document.js';
import type { SdkConfig } from '../../src/frame/messages.js';

const config: SdkConfig = { key: 'k', js: '', css: '', theme: { dark: false, variables: {} } };
const build = (html: string): string => appletDocument({ html }, config, 'SDK').replace(/<base.*?<\/script>/, '▲');

describe('a fragment', () => {
  it.each(['', '<p>hi</p>', 'text', '<!-- <html> --><p>', '<header>not a head</header>', '<headline>', '<svg></svg>', '<bodyguard>'])('%s sits in the view', (html) => {
    expect(build(html)).toBe(`<!doctype html><html><head>▲</head><body><div id="appletView">${html}\n</div></body></html>`);
  });
});

describe('a whole document', () => {
  it.each([
    ['<!doctype html><p>', '<!doctype html>▲<p>'],
    ['<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>x', '<!DOCTYPE html>\n<html lang="en">\n<head>▲\n<title>x'],
    ['<html><body>', '<html>▲<body>'],
    ['<head><title>x', '<head>▲<title>x'],
    ['<body class=x>', '▲<body class=x>'],
    ['\uFEFF  <html>', '\uFEFF  <html>▲'],
    ['<!-- a --> <!--> <!doctype html><!-- <head> --><html><head>', '<!-- a --> <!--> <!doctype html><!-- <head> --><html><head>▲'],
    ['<!-- --!><html>', '<!-- --!><html>▲'],
    ['<?xml version="1.0"?><html>', '<?xml version="1.0"?><html>▲'],
    [`<html data-a="<head>" data-b='>'><head data-c=">">`, `<html data-a="<head>" data-b='>'><head data-c=">">▲`],
    ['<html><script>first()</script><head>', '<html>▲<script>first()</script><head>'],
  ])('%j gets the SDK before anything that could run', (html, built) => {
    expect(build(html)).toBe(built);
  });
});

describe('what we add', () => {
  it('has no newline before the author’s first line', () => {
    expect(appletDocument({ html: '<p>', modules: { a: '1\n2' } }, { ...config, js: 'a\nb', css: 'c\nd' }, 'SDK').split('<p>')[0]).not.toContain('\n');
  });

  it('cannot be left by what is in the config', () => {
    const js = '</script><script>alert(1)</script><!--';
    const built = appletDocument({}, { ...config, js }, 'SDK');
    expect(built.match(/<\/script/g)).toHaveLength(1);
    expect(built).not.toContain('<!--');
    const [, json = ''] = /\}\)\((.*)\)\/\/# sourceURL/.exec(built) ?? [];
    expect(JSON.parse(json)).toEqual({ ...config, js });
  });
});

describe('a script of the applet’s own files', () => {
  const files = { 'util.js': { text: 'a("</script>")\n' }, 'lib/x.mjs': { text: 'export {}' }, 'x.bin': { base64: 'AA==' } };
  const shown = (html: string): string => appletDocument({ html, files }, config, 'SDK').replace(/^.*?<div id="appletView">|\n<\/div>.*$/gs, '');
  const data = (code: string): string => `"data:text/javascript;charset=utf-8,${encodeURIComponent(code)}"`;
  const util = data('a("</script>")\n\n//# sourceURL=applet/util.js');

  it.each([
    ['<script src="util.js">', `<script src=${util}>`],
    ["<script defer SRC = './util.js?v=1' id=x>", `<script defer SRC = ${util} id=x>`],
    ['<script\nsrc=/util.js></script>', `<script\nsrc=${util}></script>`],
    [`<script type=module>import './lib/x.mjs';\nimport('./other.js')</script><p>import './lib/x.mjs'`, `<script type=module>import 'applet:/lib/x.mjs';\nimport('./other.js')</script><p>import './lib/x.mjs'`],
    [`<script>const text = "from './util.js'"</script>`, `<script>const text = "from './util.js'"</script>`],
    ['<script type="module" src="lib/x.mjs">', `<script type="module" src=${data('import "applet:/lib/x.mjs"')}>`],
  ])('%j has it in it', (html, built) => {
    expect(shown(html)).toBe(built);
  });

  it.each(['<script src="other.js">', '<script src="x.bin">', '<script src="https://a.com/util.js">', '<script data-src="util.js">', '<script>src="util.js"</script>', '<scripty src="util.js">', '<script src=__proto__>'])(
    '%j is left as it is',
    (html) => {
      expect(shown(html)).toBe(html);
    },
  );
});

it('HTML that streams is not in the document: its scripts would run', () => {
  expect(appletDocument({ html: '<p>so far' }, { ...config, streaming: true }, 'SDK')).not.toContain('so far');
});
