/** Owns the applet's document: the author's HTML with the SDK put in first. */

import type { Content } from '../protocol.gen.js';
import { SDK_FILE, type SdkConfig } from './messages.js';

const SPACE = /^[\s\uFEFF]+/;
// As a browser reads them: `<!-->` is a whole comment, `--!>` ends one, `<?…>` is one.
const COMMENT = /^(?:<!--(?:-?>|[^]*?--!?>)|<\?[^>]*>)/;
const DOCTYPE = /^<!doctype[^>]*>/i;
const tag = (name: string): RegExp => new RegExp(`^<${name}(?:[\\s/](?:[^>"']|"[^"]*"|'[^']*')*)?>`, 'i');
const HTML = tag('html');
const HEAD = tag('head');
const BODY = tag('body');

interface Prolog {
  /** A document, as opposed to a fragment that goes into a body of ours. */
  whole: boolean;
  /** Where the first thing stands that could run or show something. */
  end: number;
}

function readProlog(html: string): Prolog {
  let end = 0;
  let whole = false;
  const take = (pattern: RegExp): boolean => {
    const match = pattern.exec(html.slice(end, end + 100_000));
    if (match) end += match[0].length;
    return match !== null;
  };
  const skip = (): void => {
    while (take(SPACE) || take(COMMENT));
  };
  for (const part of [DOCTYPE, HTML, HEAD]) {
    skip();
    if (take(part)) whole = true;
  }
  return { whole: whole || BODY.test(html.slice(end, end + 100_000)), end };
}

/** JSON that can stand in a script element. */
const inScript = (value: unknown): string => JSON.stringify(value).replace(/</g, '\\u003c');

/** The author's modules, under the names that `import` uses. As `data:` URLs, because a page cannot make a blob for a frame. */
function importMap(modules: Record<string, string>): string {
  const imports = Object.entries(modules).map(([name, source]) => [name, `data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`]);
  return imports.length ? `<script type="importmap">${inScript({ imports: Object.fromEntries(imports) })}</script>` : '';
}

/** The text of the inner frame. What we add has no newline, so that line numbers in errors are the author's own. */
export function appletDocument(content: Content, config: SdkConfig, sdk: string): string {
  const { html = '', modules = {} } = content;
  const script = `(function(__appletConfig){${sdk}})(${inScript(config)})//# sourceURL=${SDK_FILE}`;
  const head = `<base href="about:srcdoc"><script>${script}</script>${importMap(modules)}`;
  const { whole, end } = readProlog(html);
  if (whole) return html.slice(0, end) + head + html.slice(end);
  return `<!doctype html><html><head>${head}</head><body><div id="appletView">${html}\n</div></body></html>`;
}
