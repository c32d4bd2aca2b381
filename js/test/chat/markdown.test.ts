import { describe, expect, it } from 'vitest';
import { renderWhole, StreamedMarkdown } from '../../src/chat/markdown.js';

const html = (text: string): string => renderWhole(text).map(({ html }) => html).join('');

/** Every way a text can come in pieces ends with the same as the whole. */
function streamed(text: string, step = 1): string {
  const stream = new StreamedMarkdown();
  let blocks = stream.update('');
  for (let end = step; end < text.length + step; end += step) blocks = stream.update(text.slice(0, end));
  return blocks.map(({ html }) => html).join('');
}

const plain = (text: string): string => text.replace(/<\/?span[^>]*>/g, '');

describe('streamed markdown', () => {
  it.each([
    'One\n\ntwo\n\n- a\n- b\n\n  more of b\n\nafter',
    'Title\n===\n\ntext\n---\nmore',
    'para\n#\n#hash',
    'para\n***\nmore',
    'para\n***bold*** text',
    'para\n#tag and on',
    'a | b\n--|--\n1 | 2\n\nend',
    '```python\nx = 1\n\ny = 2\n```\n\nafter\n\n    indented\n\n    code\n',
    '1. one\n\n   ```js\n   let x\n   ```\n2. two\n\n> quote\nlazy\n\nend',
    'line\r\n\r\nother\r\n- x\r\n',
    '[a]: https://a.org\n\nsee [a] and\n\n[b][a]',
    '~~~\nnever closed\n\n# no heading',
    'text <b>no html</b>\n\n<script>alert(1)</script>\n\nend',
  ])('is in the end as the whole: %j', (text) => {
    for (const step of [1, 3, 7]) expect(plain(streamed(text, step))).toBe(plain(html(text)));
  });

  it('renders what is complete once', () => {
    const stream = new StreamedMarkdown();
    const first = stream.update('One\n\nTwo\n\nThr');
    expect(first.map(({ settled }) => settled)).toEqual([true, false, false]);
    const second = stream.update('One\n\nTwo\n\nThree\n\nFour\n');
    expect(second.map(({ settled }) => settled)).toEqual([true, true, true, false]);
    expect(second[0]).toBe(first[0]);
  });

  it('begins anew when the text is another', () => {
    const stream = new StreamedMarkdown();
    stream.update('One\n\nTwo\n\nThree\n');
    expect(stream.update('Other').map(({ html }) => html)).toEqual(['<p>Other</p>\n']);
  });

  it('does not take half an explanation of a link for the whole', () => {
    const stream = new StreamedMarkdown();
    const text = '[a]: https://example.org/page\n\nsee [a]\n\nend\n';
    for (let end = 1; end <= text.length; end += 1) stream.update(text.slice(0, end));
    expect(stream.update(text)[0]?.html).toContain('href="https://example.org/page"');
  });
});

describe('markdown', () => {
  it('colours code that is whole, and only that', () => {
    expect(html('```python\ndef f(): pass\n```')).toContain('<span class="hljs-keyword">def</span>');
    expect(html('```nolanguage\n<b>\n```')).toBe('<pre><code class="language-nolanguage">&lt;b&gt;\n</code></pre>\n');
    expect(new StreamedMarkdown().update('```python\ndef f()')[0]?.html).not.toContain('hljs');
  });

  it('makes links of addresses, not of file names', () => {
    expect(html('see https://example.org/x and main.py')).toBe('<p>see <a href="https://example.org/x">https://example.org/x</a> and main.py</p>\n');
  });

  it('shows an image that is at hand, and links to any other', () => {
    expect(html('![a plot](data:image/png;base64,iVBORw0=)')).toContain('<img src="data:image/png;base64,iVBORw0=" alt="a plot">');
    expect(html('![a](https://spy.example/x.png)')).toContain('<a href="https://spy.example/x.png"');
    expect(html('![a](https://spy.example/x.png)')).not.toContain('<img');
  });

  it('aligns columns without a style', () => {
    const table = html('|a|b|\n|---|--:|\n|1|2|');
    expect(table).toContain('<td align="right">2</td>');
    expect(table).not.toContain('style');
  });
});
