/**
 * Owns how an answer's markdown becomes HTML, block by block. Of an answer that is being written, blocks which are
 * complete are rendered once, and only what comes after them again. The HTML is for sanitize.ts, and for nothing else.
 */

import MarkdownIt, { type Token } from 'markdown-it';
import { highlighted } from './highlight.js';
import { IMAGE_URL } from './sanitize.js';

export interface Block {
  readonly html: string;
  /** It does not change any more. */
  readonly settled: boolean;
}

interface Env {
  references?: Record<string, { title: string; href: string }>;
  /** The colours of code wait until it is whole. */
  settled?: boolean;
  [other: string | symbol]: unknown;
}

const md = new MarkdownIt({ html: false, linkify: true });
// `main.py` is a file, not a site in Paraguay.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
const { escapeHtml } = md.utils;

function renderCode(code: string, info: string, env: Env): string {
  const language = (info.trim().split(/[\s{,]+/)[0] ?? '').toLowerCase();
  const inside = (env.settled && language && highlighted(code, language)) || escapeHtml(code);
  return `<pre><code${language ? ` class="language-${escapeHtml(language)}"` : ''}>${inside}</code></pre>\n`;
}

md.renderer.rules['fence'] = (tokens, i, _options, env) => renderCode(tokens[i]?.content ?? '', md.utils.unescapeAll(tokens[i]?.info ?? ''), env ?? {});
md.renderer.rules['code_block'] = (tokens, i, _options, env) => renderCode(tokens[i]?.content ?? '', '', env ?? {});
// Whoever shows an image from elsewhere tells that place who reads, and when: it becomes a link.
md.renderer.rules['image'] = (tokens, i) => {
  const token = tokens[i];
  const source = String(token?.attrGet('src') ?? '');
  const words = token?.content || 'image';
  if (IMAGE_URL.test(source)) return `<img src="${escapeHtml(source)}" alt="${escapeHtml(words)}">`;
  return `<a href="${escapeHtml(source)}" title="${escapeHtml(source)}">${escapeHtml(words)}</a>`;
};
// Columns are aligned by a style, which is not let through.
for (const name of ['th_open', 'td_open']) {
  md.renderer.rules[name] = (tokens, i, options, _env, self) => {
    const token = tokens[i];
    const align = /text-align:(left|center|right)/.exec(String(token?.attrGet('style') ?? ''))?.[1];
    if (token && align) token.attrs = [['align', align]];
    return self.renderToken(tokens, i, options);
  };
}

interface Group {
  tokens: Token[];
  /** The line on which it begins. */
  line: number;
}

function groupsOf(text: string, env: Env): Group[] {
  const groups: Group[] = [];
  let depth = 0;
  for (const token of md.parse(text, env)) {
    if (depth === 0 && token.nesting >= 0) groups.push({ tokens: [], line: token.map?.[0] ?? 0 });
    groups.at(-1)?.tokens.push(token);
    depth += token.nesting;
  }
  return groups;
}

const renderGroup = ({ tokens }: Group, env: Env, settled: boolean): string => md.renderer.render(tokens, md.options, { ...env, settled });

const withNewlines = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** An answer that is whole. A link may be explained after it is used, so that all is read before any is rendered. */
export function renderWhole(text: string): Block[] {
  const env: Env = {};
  return groupsOf(withNewlines(text), env).map((group) => ({ html: renderGroup(group, env, true), settled: true }));
}

/** Where a line begins. */
function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let left = line; left > 0; left -= 1) at = text.indexOf('\n', at) + 1;
  return at;
}

/** An answer that is being written. */
export class StreamedMarkdown {
  #settled: Block[] = [];
  /** The text of those blocks. */
  #done = '';
  #references: NonNullable<Env['references']> = {};

  update(whole: string): Block[] {
    const text = withNewlines(whole);
    if (!text.startsWith(this.#done)) {
      this.#settled = [];
      this.#done = '';
      this.#references = {};
    }
    const tail = text.slice(this.#done.length);
    // Half a line may explain a link wrongly, and the first explanation stands: it is forgotten again.
    const env: Env = { references: { ...this.#references } };
    const groups = groupsOf(tail, env);
    const open = this.#firstOpen(groups, tail);
    const end = groups[open] ? startOfLine(tail, groups[open].line) : 0;
    if (end > 0) this.#settle(tail.slice(0, end));
    const rest = groups.slice(open).map((group) => ({ html: renderGroup(group, env, false), settled: false }));
    return [...this.#settled, ...rest];
  }

  /** The last block may grow; the one before it too, while the first line of the last one, which ended it, is not whole. */
  #firstOpen(groups: Group[], tail: string): number {
    const last = groups.at(-1);
    if (!last) return 0;
    const isWhole = tail.indexOf('\n', startOfLine(tail, last.line)) >= 0;
    return Math.max(0, groups.length - (isWhole ? 1 : 2));
  }

  #settle(text: string): void {
    const env: Env = { references: this.#references };
    const blocks = groupsOf(text, env).map((group) => ({ html: renderGroup(group, env, true), settled: true }));
    this.#settled = [...this.#settled, ...blocks];
    this.#done += text;
  }
}
