/** Owns the applet's document: the author's HTML with the SDK put in first. */

import type { AppletFile, Content } from '../protocol.gen.js';
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

const SCRIPT = /(<script(?=[\s>])(?:[^>"']|"[^"]*"|'[^']*')*>)([^]*?)(?=<\/script|$)/gi;
const SRC = /(\ssrc\s*=\s*)("[^"]*"|'[^']*'|[^\s>]+)/i;
const MODULE = /\stype\s*=\s*["']?module\b/i;
const IMPORTED = /(\b(?:from|import)\s*\(?\s*["'])(\.{0,2}\/[^"']+)(?=["'])/g;

/**
 * The HTML's scripts with the applet's own files: what a `src` names stands in it, since the frame cannot load it in time, and
 * a module imports by names that the import map has. No line is added.
 */
function withScripts(html: string, files: Record<string, AppletFile>): string {
  const find = (reference: string): string | null => {
    const path = reference.replace(/^(?:applet:|\.\.?)?\//, '').replace(/[?#].*$/, '');
    return Object.hasOwn(files, path) && typeof files[path]?.text === 'string' ? path : null;
  };
  const urlOf = (path: string, isModule: boolean): string => {
    const code = isModule ? `import ${JSON.stringify(`applet:/${path}`)}` : `${files[path]?.text}\n//# sourceURL=applet/${path}`;
    return `data:text/javascript;charset=utf-8,${encodeURIComponent(code)}`;
  };
  return html.replace(SCRIPT, (_, tag: string, code: string) => {
    const isModule = MODULE.test(tag);
    const opened = tag.replace(SRC, (whole, before: string, value: string) => {
      const path = find(value.replace(/^["']|["']$/g, '').trim());
      return path === null ? whole : `${before}"${urlOf(path, isModule)}"`;
    });
    const imports = (whole: string, before: string, specifier: string): string => {
      const path = find(specifier);
      return path === null ? whole : `${before}applet:/${path}`;
    };
    return opened + (isModule ? code.replace(IMPORTED, imports) : code);
  });
}

/** The text of the inner frame. What we add has no newline, so that line numbers in errors are the author's own. */
export function appletDocument(content: Content, config: SdkConfig, sdk: string): string {
  // What streams comes in pieces, of which no script is to run.
  const html = config.streaming ? '' : withScripts(content.html ?? '', content.files ?? {});
  const script = `(function(__appletConfig){${sdk}})(${inScript(config)})//# sourceURL=${SDK_FILE}`;
  const head = `<base href="about:srcdoc"><script>${script}</script>`;
  const { whole, end } = readProlog(html);
  if (whole) return html.slice(0, end) + head + html.slice(end);
  return `<!doctype html><html><head>${head}</head><body><div id="appletView">${html}\n</div></body></html>`;
}
