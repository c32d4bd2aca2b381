// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { passed, Viewing } from './viewing.js';

let page: Viewing;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  page.view.dispose();
  vi.useRealTimers();
});

describe('a content that streams', () => {
  const chunk = (at: number, html: string, revision = 1): void => page.hear({ type: 'contentChunk', windowId: 'w', revision, at, html });
  const html = (): string => page.posted.filter(({ type }) => type === 'applet:html').map((piece) => piece.html).join('|');

  beforeEach(async () => {
    page = new Viewing({}, 0);
    page.tell({ content: { html: '<p>', js: 'go()', streaming: true } });
    expect(page.config).toMatchObject({ streaming: true, js: '' });
    chunk(3, 'a');
    page.start();
    await page.gets('applet:html');
    await page.sent();
  });

  it('is written piece by piece, in order and once', async () => {
    chunk(4, '\u{1F600}b');
    chunk(3, 'a\u{1F600}b');
    chunk(5, 'bc');
    await passed(() => html().endsWith('c'));
    expect(html()).toBe('<p>a|\u{1F600}b|c');
    expect(await page.types()).toEqual([]);
  });

  it('is asked for again when something is missing', async () => {
    chunk(9, 'late');
    expect(await page.types()).toEqual(['viewOpened']);
    page.tell({ content: { html: '<p>abcdelate', js: 'go()', streaming: true } });
    await passed(() => html().endsWith('late'));
    expect(html()).toBe('<p>a|bcdelate');
  });

  it('is one document with its scripts when it is whole', async () => {
    page.say({ type: 'applet:size', height: 50 });
    await passed(() => page.view.element.dataset['state'] === 'shown');
    Object.defineProperty(page.view.element, 'offsetHeight', { value: 50 });
    page.tell({ revision: 2, content: { html: '<p>ab', js: 'go()' } });
    expect(page.config).toMatchObject({ js: 'go()' });
    expect(page.frame.srcdoc).toContain('<p>ab');
    // What stands below does not jump meanwhile.
    expect(page.view.element.style.minHeight).toBe('50px');
  });
});
