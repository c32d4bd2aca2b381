// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shared } from '../src/channel/shared.js';
import { greet, passed, Viewing } from './viewing.js';

let page: Viewing;

beforeEach(() => {
  shared().ran.clear();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  page.view.dispose();
  vi.useRealTimers();
});

const hasBars = (count: number): Promise<void> => passed(() => page.bars.length === count);

describe('an applet that nobody vouches for', () => {
  const content = { title: 'Sheet', html: '<p id="x">', js: 'go()', permissions: { files: 'read', network: ['https://example.org'] } };

  beforeEach(() => {
    page = new Viewing(content);
    page.tell({ run: 'ask' });
  });

  it('is asked about after a moment, with what it will load and do', () => {
    vi.advanceTimersByTime(299);
    expect(page.view.element.textContent).toBe('Loading the applet…');
    vi.advanceTimersByTime(1);
    const panel = page.view.element.querySelector('.jupyter-applet-run');
    expect(panel?.textContent).toContain('Sheet');
    expect(panel?.textContent).toContain('It will load: HTML (10 bytes), JavaScript (4 bytes).');
    expect(panel?.textContent).toContain('It wants to: read files; reach “https://example.org”.');
    // The source stands there as text.
    expect([panel?.querySelector('#x'), panel?.querySelector('pre')?.textContent]).toEqual([null, '<p id="x">']);
    expect(page.frame.hasAttribute('srcdoc')).toBe(false);
  });

  it('runs when a person says so, here', async () => {
    vi.advanceTimersByTime(300);
    await page.sent();
    page.choose('Run');
    expect(page.frame.srcdoc).toContain('go()');
    expect(page.view.element.querySelector('.jupyter-applet-run')).toBeNull();
    expect(await page.types()).toEqual([]);
    // The host, which was told nothing, still asks.
    page.tell({ run: 'ask' });
    vi.advanceTimersByTime(300);
    expect(page.frame.srcdoc).toContain('go()');
  });

  it('runs without a question in another place of the page that has run it', () => {
    vi.advanceTimersByTime(300);
    page.choose('Run');
    page.view.dispose();
    page = new Viewing(content);
    page.tell({ run: 'ask' });
    expect(page.frame.srcdoc).toContain('go()');
  });

  it('runs, and will, when a person says always', async () => {
    vi.advanceTimersByTime(300);
    page.choose('Always run');
    expect(page.frame.srcdoc).toContain('go()');
    expect(await page.next('permit')).toMatchObject({ windowId: 'w', permission: 'run', value: true });
  });

  it('runs without a question when a kernel vouches for it at once', () => {
    vi.advanceTimersByTime(200);
    page.tell({ run: 'run' });
    vi.advanceTimersByTime(1000);
    expect(page.frame.srcdoc).toContain('go()');
    expect(page.view.element.querySelector('.jupyter-applet-run')).toBeNull();
  });

  it('is asked about again when another one takes its window', () => {
    vi.advanceTimersByTime(300);
    page.choose('Run');
    page.tell({ revision: 2, content: { html: 'two' }, run: 'ask' });
    vi.advanceTimersByTime(300);
    expect(page.frame.hasAttribute('srcdoc')).toBe(false);
    expect(page.button('Run')).toBeTruthy();
  });
});

it('an applet that ran before its host answered is stopped, when the host asks', () => {
  page = new Viewing(undefined, undefined, 500);
  vi.advanceTimersByTime(500);
  page.start();
  page.tell({ run: 'ask' });
  vi.advanceTimersByTime(300);
  expect(page.frame.hasAttribute('srcdoc')).toBe(false);
  expect(page.button('Run')).toBeTruthy();
});

describe('an origin that is not listed', () => {
  const url = 'https://example.org/data.csv';

  beforeEach(async () => {
    page = new Viewing({ title: 'Sheet', html: 'one' });
    page.tell();
    page.start();
    page.say({ type: 'applet:blocked', url, directive: 'connect-src' }, { type: 'applet:blocked', url, directive: 'connect-src' });
    await hasBars(1);
  });

  it('is asked for once', () => {
    expect(page.bars).toEqual(['“Sheet” wants to reach “https://example.org” (data).']);
  });

  it('is allowed for as long as the content stays', async () => {
    page.choose('Allow once');
    await passed(() => page.frame.srcdoc.includes('https://example.org'));
    expect(page.bars).toEqual([]);
    expect(await page.types()).not.toContain('permit');
    page.tell({ revision: 2, content: { html: 'two' } });
    expect(page.frame.srcdoc).not.toContain('https://example.org');
  });

  it('is allowed for good by the host, which can take it back', async () => {
    page.choose('Always for this applet');
    const { id, ...permit } = await page.next('permit');
    expect(permit).toEqual({ type: 'permit', windowId: 'w', permission: 'network', value: ['https://example.org'] });
    page.tell({ granted: { network: ['https://example.org'] } });
    page.hear({ type: 'result', id });
    expect(page.frame.srcdoc).toContain('https://example.org');
    await hasBars(1);
    expect(page.bars).toEqual(['This applet may reach “https://example.org”.']);
    page.button('Take back').click();
    const revoke = await page.next('revoke');
    expect(revoke).toMatchObject({ windowId: 'w', permission: 'network' });
    page.tell();
    page.hear({ type: 'result', id: revoke.id });
    expect(page.frame.srcdoc).not.toContain('https://example.org');
    await hasBars(0);
  });

  it('stays closed, and is not asked for again, when a person says no', async () => {
    page.choose('Deny');
    await Promise.resolve();
    page.say({ type: 'applet:blocked', url, directive: 'img-src' }, { type: 'applet:blocked', url: 'inline', directive: 'script-src' });
    await hasBars(1);
    expect(page.bars).toEqual(['Blocked: “inline” (scripts)']);
  });

  it('stays closed when the question is put away by a key', async () => {
    page.view.element.querySelector('.jupyter-applet-bar')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    await Promise.resolve();
    expect(page.bars).toEqual([]);
    page.say({ type: 'applet:blocked', url, directive: 'img-src' }, { type: 'applet:link', url: 'https://example.com' });
    await hasBars(1);
    expect(page.bars).toEqual(['Link to “https://example.com”']);
  });

  it('is allowed here and for now when the decision cannot be kept', async () => {
    page.choose('Always for this applet');
    const { id } = await page.next('permit');
    page.hear({ type: 'error', id, code: 'STORAGE_FAILED', message: 'The disk is full.' });
    await passed(() => page.frame.srcdoc.includes('https://example.org'));
  });

  it('is asked for whatever a link is called', async () => {
    page.choose('Deny');
    page.say({ type: 'applet:link', url: 'network https://example.com' }, { type: 'applet:blocked', url: 'https://example.com', directive: 'img-src' });
    await hasBars(2);
    expect(page.bars).toEqual(['Link to “network https://example.com”', '“Sheet” wants to reach “https://example.com” (images).']);
  });

  it('is not asked for any more when the document has gone', () => {
    greet('applet:leaving');
    expect(page.bars).toEqual([]);
  });
});

it('decisions are listed behind a button, each to be taken back', async () => {
  page = new Viewing();
  page.tell({ granted: { files: 'write', network: ['https://example.org'], clipboard: false } });
  const toggle = page.view.element.querySelector('.jupyter-applet-grants > button') as HTMLButtonElement;
  const list = page.view.element.querySelector('.jupyter-applet-grants ul') as HTMLElement;
  expect([list.hidden, toggle.title]).toEqual([true, 'What this applet may do']);
  toggle.click();
  expect(list.hidden).toBe(false);
  expect([...list.querySelectorAll('li')].map(({ firstChild }) => firstChild?.textContent?.trim())).toEqual([
    'This applet may read and change files.',
    'This applet may reach “https://example.org”.',
    'This applet may not use the clipboard.',
  ]);
  page.button('Take back').click();
  expect(await page.next('revoke')).toMatchObject({ permission: 'files' });
  page.tell();
  expect(page.view.element.querySelector('.jupyter-applet-grants')).toBeNull();
});

it('the clipboard is open where it is declared or granted, and a no is a no', () => {
  page = new Viewing({ html: 'one', permissions: { clipboard: true } });
  page.tell();
  expect(page.frame.allow).toBe('clipboard-read *; clipboard-write *');
  page.tell({ granted: { clipboard: false } });
  expect(page.frame.allow).toBe('');
});
