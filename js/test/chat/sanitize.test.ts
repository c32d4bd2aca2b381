// @vitest-environment happy-dom
// @vitest-environment-options { "settings": { "disableCSSFileLoading": true, "disableJavaScriptFileLoading": true, "disableIframePageLoading": true, "handleDisabledFileLoadingAsSuccess": true } }
import { describe, expect, it } from 'vitest';
import { renderWhole } from '../../src/chat/markdown.js';
import { sanitizeMarkdown, sanitizeOutput } from '../../src/chat/sanitize.js';

/** More, through every field, runs in a real browser: its parser is what counts. */
const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href=" java\tscript:alert(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="/logout">x</a>',
  '<form action="https://spy.example"><input name=q><button formaction="javascript:alert(1)">x</button></form>',
  '<style>@import url(https://spy.example)</style><p style="background:url(https://spy.example)">x</p>',
  '<link rel=stylesheet href=https://spy.example><meta http-equiv=refresh content="0;url=https://spy.example"><base href=https://spy.example>',
  '<video src=https://spy.example/v poster=https://spy.example/p></video><audio src=https://spy.example></audio><object data=x></object><embed src=x>',
  '<img src="https://spy.example/x.png"><img srcset="https://spy.example/x.png 2x"><input type=image src=https://spy.example>',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<p id=forms name=body class="jp-Dialog" data-commandlinker-command="x" onclick=alert(1)>x</p>',
  '<table background="https://spy.example"><tr><td background="https://spy.example">x</td></tr></table>',
  '<details open ontoggle=alert(1)><summary>x</summary></details>',
  '<template><script>alert(1)</script></template><noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '[x](javascript:alert(1))',
  '[x](vbscript:x) ![y](javascript:alert(1)) <javascript:alert(1)>',
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  '![" onerror="alert(1)](https://spy.example/x.png "t\\" onload=\\"x")',
];

function faults(root: DocumentFragment): string[] {
  const found: string[] = [];
  for (const element of root.querySelectorAll('*')) {
    const tag = element.localName;
    if (/^(script|style|svg|math|iframe|form|input|button|link|meta|base|video|audio|object|embed|template|noscript)$/.test(tag)) found.push(tag);
    for (const { name, value } of element.attributes) {
      if (/^(on|style|id|name|srcset|data-|background|formaction|action|poster)/.test(name)) found.push(`${tag} ${name}`);
      if (name === 'href' && !/^(https?:|mailto:)/.test(value)) found.push(`${tag} href ${value}`);
      if (name === 'src' && !/^data:image\/(png|jpeg|gif|webp);base64,/.test(value)) found.push(`${tag} src ${value}`);
      if (name === 'class' && !/^(language|hljs)-/.test(value)) found.push(`${tag} class ${value}`);
    }
    if (tag === 'a' && element.hasAttribute('href') && element.getAttribute('rel') !== 'noopener noreferrer') found.push('a rel');
  }
  return found;
}

describe('what gets into the page', () => {
  it.each(ATTACKS)('is harmless: %s', (attack) => {
    expect(faults(sanitizeOutput(attack))).toEqual([]);
    expect(faults(sanitizeMarkdown(attack))).toEqual([]);
    for (const { html } of renderWhole(attack)) expect(faults(sanitizeMarkdown(html))).toEqual([]);
  });

  it('keeps text, tables, links and colours', () => {
    const [block] = renderWhole('see [it](https://example.org) **now**');
    const root = sanitizeMarkdown(block?.html ?? '');
    expect(root.textContent).toContain('see it now');
    expect(root.querySelector('a')?.getAttribute('target')).toBe('_blank');
    const [code] = renderWhole('```python\nclass A: pass\n```');
    expect(sanitizeMarkdown(code?.html ?? '').querySelector('code.language-python .hljs-keyword')?.textContent).toBe('class');
    const table = sanitizeOutput('<table class="dataframe"><tbody><tr><th>0</th><td colspan="2">x</td></tr></tbody></table>');
    expect([table.textContent, table.querySelector('td')?.getAttribute('colspan'), table.querySelector('.dataframe')]).toEqual(['0x', '2', null]);
  });
});
