// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Asking, type Decision } from '../src/asking.js';
import { shared } from '../src/channel/shared.js';
import { Panels } from '../src/panels.js';
import { layout, passed, Viewing } from './viewing.js';

beforeEach(() => {
  shared().ran.clear();
  Object.assign(layout, { top: 0, isCovered: false });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a question', () => {
  let panels: Panels;
  let asking: Asking;
  let decisions: string[];
  const button = (): HTMLButtonElement => panels.root.querySelector('button') as HTMLButtonElement;
  const words = (): string | null | undefined => panels.root.querySelector('span')?.textContent;
  const wish = (what: string, about = what): void =>
    void asking
      .ask({ key: 'files read', what, about, text: (abouts) => `wants ${abouts}`, canAlways: true })
      .then((decision: Decision) => decisions.push(`${what} ${decision}`));

  beforeEach(() => {
    panels = new Panels(document.createElement('iframe'));
    asking = new Asking(panels, () => {});
    decisions = [];
    wish('a');
    // As far as the words: they are set after the bar was made.
    vi.advanceTimersByTime(50);
  });
  afterEach(() => panels.dispose());

  it('takes an answer when it has stood there for half a second', async () => {
    vi.advanceTimersByTime(499);
    expect(button().disabled).toBe(true);
    button().click();
    vi.advanceTimersByTime(1);
    expect([button().disabled, decisions]).toEqual([false, []]);
    button().click();
    await passed(() => decisions.length === 1);
    expect(decisions).toEqual(['a once']);
  });

  it('that moves takes none, not even at once, before it has stood there as long again', () => {
    vi.advanceTimersByTime(500);
    layout.top = 180;
    // Nothing has looked since.
    expect(button().disabled).toBe(false);
    button().click();
    expect(asking.isOpen).toBe(true);
    vi.advanceTimersByTime(50);
    expect(button().disabled).toBe(true);
    vi.advanceTimersByTime(500);
    button().click();
    expect(asking.isOpen).toBe(false);
  });

  it('that is joined by others takes none for them before they could be read', async () => {
    vi.advanceTimersByTime(500);
    for (let at = 0; at < 6; at++) wish(`private/${at}`);
    button().click();
    expect([asking.isOpen, words()]).toEqual([true, 'wants a, private/0, private/1, private/2, private/3 and 2 more']);
    vi.advanceTimersByTime(550);
    button().click();
    await passed(() => decisions.length === 7);
  });

  it('says how many it is about, also when they look alike', () => {
    wish('b', 'a');
    wish('b', 'a');
    expect(words()).toBe('wants a, a');
  });

  it.each([
    ['is below something else', () => (layout.isCovered = true)],
    ['stands in a page that nobody looks at', () => vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)],
  ])('that %s waits', (_, hide) => {
    hide();
    vi.advanceTimersByTime(60_000);
    expect(button().disabled).toBe(true);
    layout.isCovered = false;
    vi.restoreAllMocks();
    vi.advanceTimersByTime(550);
    expect(button().disabled).toBe(false);
  });

  it('is not looked at any more when it has gone', () => {
    asking.drop();
    vi.advanceTimersByTime(50);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('in a view', () => {
  let page: Viewing;
  afterEach(() => page.view.dispose());

  it('the question whether it may run waits too', () => {
    page = new Viewing();
    page.tell({ run: 'ask' });
    vi.advanceTimersByTime(300);
    page.button('Run').click();
    expect(page.frame.hasAttribute('srcdoc')).toBe(false);
    page.choose('Run');
    expect(page.frame.hasAttribute('srcdoc')).toBe(true);
  });

  it('the frame keeps its height while a question stands below it', async () => {
    const size = (height: number): void => page.say({ type: 'applet:size', height });
    page = new Viewing();
    page.tell();
    page.start();
    size(200);
    await passed(() => page.frame.style.height === '200px');
    page.say({ type: 'applet:blocked', url: 'https://example.org/', directive: 'img-src' });
    size(20);
    page.say({ type: 'applet:link', url: 'after' });
    await passed(() => page.bars.length === 2);
    expect(page.frame.style.height).toBe('200px');
    page.choose('Deny');
    expect(page.frame.style.height).toBe('20px');
  });

  it('nothing is looked at any more when the view has gone', () => {
    page = new Viewing();
    page.tell({ run: 'ask' });
    vi.advanceTimersByTime(300);
    page.view.dispose();
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
