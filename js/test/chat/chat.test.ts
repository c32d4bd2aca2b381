// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mount, type Mounted } from '../../src/chat/chat.js';
import type { Session } from '../../src/chat/session.js';
import { delta, done, FakeChannel, makeSession, message, started } from './fakes.js';

let channel: FakeChannel;
let session: Session;
let chat: Mounted;
let number = 0;

function show(name = `s${(number += 1)}`): void {
  session = makeSession(channel, channel, name);
  chat = mount(document.body, session);
}

const find = <E extends Element = HTMLElement>(selector: string): E => document.querySelector(selector) as E;
const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];
const area = (): HTMLTextAreaElement => find('textarea');
const named = (label: string): HTMLButtonElement => find(`button[aria-label="${label}"]`);
const soon = (check: () => void): Promise<void> => vi.waitFor(check);
const asked = (type: string) => channel.asked.filter((question) => question.type === type);
const bubbles = () => all('.message').map((bubble) => [bubble.className, bubble.dataset['appletSource'], bubble.innerHTML]);

async function type(text: string): Promise<void> {
  area().value = text;
  area().dispatchEvent(new InputEvent('input', { bubbles: true }));
  await soon(() => expect(session && area().value).toBe(text));
  await new Promise((resolve) => setTimeout(resolve));
}

async function press(key: string, more: KeyboardEventInit = {}): Promise<KeyboardEvent> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  area().dispatchEvent(event);
  await new Promise((resolve) => setTimeout(resolve));
  return event;
}

beforeEach(() => {
  channel = new FakeChannel();
});
afterEach(() => {
  chat.dispose();
  session.dispose();
  document.body.replaceChildren();
});

describe('a chat', () => {
  it('says who answers, or how somebody comes to', async () => {
    channel.agent = null;
    show();
    await soon(() => expect(find('.jac-welcome').textContent).toContain('No agent answers here yet. Run a cell with @agent'));
    channel.say({ type: 'agentStatus', agent: '<b>analyst' } as never);
    await soon(() => expect(find('.jac-welcome').textContent).toContain('<b>analyst answers here.'));
    expect(area().placeholder).toBe('Message <b>analyst');
  });

  it('shows a turn the same live and after a reload', async () => {
    show();
    await soon(() => expect(find('.jac-welcome')).toBeTruthy());
    const slug = 'calc"><img src=x onerror=alert(1)>';
    const toolCalls = [{ id: '1', name: 'app_query', arguments: { a: 1 }, result: 4, done: true }];
    channel.say(started(0, { source: 'applet', appletSlug: slug, prompt: '**2+2**\n<b>?' }), delta(0, 'It is\n\n```python\nx = 4\n```\n', 0));
    await soon(() => expect(find('.message.assistant').textContent).toContain('x = 4'));
    channel.say({ type: 'toolCall', streamId: 't0', call: toolCalls[0] } as never, done(0, { length: 28 }));
    channel.say(started(1, { source: 'agent', appletSlug: 'planner' }), delta(1, 'partly', 0), done(1, { error: 'It broke.' }));
    await soon(() => expect(find('[role=alert]').textContent).toBe('It broke.'));
    const live = bubbles();
    expect(find('.message.user.applet-invoked').getAttribute('data-applet-source')).toBe(slug);
    expect(find('.jac-prompt').innerHTML).toBe('**2+2**\n&lt;b&gt;?');
    expect(find('.message.user.agent-invoked').getAttribute('data-agent-source')).toBe('planner');
    chat.dispose();
    channel.messages = [
      message(0, { source: 'applet', appletSlug: slug, content: '**2+2**\n<b>?' }),
      message(1, { content: 'It is\n\n```python\nx = 4\n```\n', toolCalls }),
      message(2, { source: 'agent', appletSlug: 'planner' }),
      message(3, { content: 'partly', error: 'It broke.' }),
    ];
    show();
    await soon(() => expect(all('.message')).toHaveLength(4));
    expect(bubbles()).toEqual(live);
  });

  it('shows what an answer waits for, and cancels it', async () => {
    show();
    await soon(() => expect(find('.jac-welcome')).toBeTruthy());
    channel.say(started(0));
    await soon(() => expect(find('.jac-dots')).toBeTruthy());
    channel.say({ type: 'messageStatus', streamId: 't0', status: 'queued', message: 'Queued behind a running cell' } as never);
    await soon(() => expect(find('.jac-note').textContent).toContain('Queued behind a running cell'));
    find<HTMLButtonElement>('.jac-note button').click();
    expect(channel.asked.at(-1)).toEqual({ type: 'cancelMessage', streamId: 't0' });
  });

  it('folds tools, and opens them as text', async () => {
    channel.messages = [message(0), message(1, { toolCalls: [{ id: '1', name: '<i>tool', arguments: { x: '<b>' }, error: 'no', done: true }] })];
    show();
    await soon(() => expect(find('details')).toBeTruthy());
    expect(find('details summary').textContent).toContain('✗<i>tool');
    expect(find('.jac-tool-body')).toBeNull();
    find('summary').click();
    await soon(() => expect(all('.jac-tool-value').map(({ textContent }) => textContent)).toEqual(['{\n  "x": "<b>"\n}', 'no']));
  });

  it('fetches outputs and shows them by their kind', async () => {
    const outputs = ['a.png', 'b.html', 'c.txt', 'd.svg', 'e.zip', 'f.png'].map((name) => ({ name, mime: 'image/png' }));
    ['image/png', 'text/html', 'text/plain', 'image/svg+xml', 'application/zip', 'image/png'].forEach((mime, i) => (outputs[i]!.mime = mime));
    channel.outputs = {
      'a.png': { mime: 'image/png', data: 'iVBORw0=' },
      'b.html': { mime: 'text/html', data: '<table><tr><td>x</td></tr></table><script>alert(1)</script>' },
      'c.txt': { mime: 'text/plain', data: '<b>' },
      'd.svg': { mime: 'image/svg+xml', data: '<svg onload="x">' },
      'f.png': { mime: 'image/png', data: '"><script>' },
    };
    channel.messages = [message(0), message(1, { outputs })];
    show();
    await soon(() => expect(all('.message.assistant img').map((image) => image.getAttribute('src'))).toEqual(['data:image/png;base64,iVBORw0=', 'data:image/svg+xml,%3Csvg%20onload%3D%22x%22%3E']));
    await soon(() => expect(find('.jac-html td').textContent).toBe('x'));
    expect([find('.jac-plain pre').textContent, find('.message script'), asked('readOutput').length]).toEqual(['<b>', null, 5]);
    expect(find('.message').parentElement?.parentElement?.textContent).toContain('Download e.zip');
  });

  it('sends by Enter, goes to a new line by Shift+Enter, and waits for an input method', async () => {
    show();
    await type('hello');
    await press('Enter', { shiftKey: true });
    await press('Enter', { isComposing: true });
    expect(asked('sendMessage')).toEqual([]);
    expect((await press('Enter')).defaultPrevented).toBe(true);
    expect(asked('sendMessage')).toMatchObject([{ prompt: 'hello' }]);
    expect(area().value).toBe('');
    await press('Enter');
    expect(asked('sendMessage')).toHaveLength(1);
  });

  it('puts back what could not be sent, and says why', async () => {
    channel.failures.set('sendMessage', { code: 'X', message: 'The host is full.' });
    show();
    await type('hello');
    await press('Enter');
    await soon(() => expect(area().value).toBe('hello'));
    expect(find('.jac-problem').textContent).toBe('Not sent. The host is full.');
  });

  it('keeps a draft for the next chat of the session', async () => {
    show('kept');
    await type('half a thought');
    chat.dispose();
    show('kept');
    expect(area().value).toBe('half a thought');
  });

  it('walks through what was said, by keys', async () => {
    channel.messages = [message(0), message(1), message(2), message(3)];
    show();
    await soon(() => expect(all('.message')).toHaveLength(4));
    await press('ArrowUp');
    expect(area().value).toBe('message 2');
    await press('ArrowUp');
    expect(area().value).toBe('message 0');
    await press('ArrowDown');
    await press('ArrowDown');
    expect(area().value).toBe('');
  });

  it('stops what runs, by button or Escape', async () => {
    show();
    await soon(() => expect(find('.jac-welcome')).toBeTruthy());
    expect(named('Stop')).toBeNull();
    channel.say(started(0));
    await soon(() => expect(named('Stop')).toBeTruthy());
    named('Stop').click();
    await press('Escape');
    expect(asked('cancelMessage')).toMatchObject([{ streamId: 't0' }, { streamId: 't0' }]);
    channel.say(done(0));
    await soon(() => expect(named('Stop')).toBeNull());
  });

  it('keeps its keys from the notebook', async () => {
    show();
    const heard = vi.fn();
    document.body.addEventListener('keydown', heard);
    await press('a');
    document.body.removeEventListener('keydown', heard);
    expect(heard).not.toHaveBeenCalled();
    expect(find('.jupyter-applet-chat').getAttribute('data-lm-suppress-shortcuts')).toBe('true');
  });

  it('renders only what is near the view', async () => {
    channel.messages = Array.from({ length: 4000 }, (_, index) => message(index));
    show();
    await soon(() => expect(session.transcript.turns.length).toBe(500));
    await soon(() => expect(all('.message').length).toBeGreaterThan(5));
    expect(all('.message').length).toBeLessThan(120);
    expect(all('.message').at(-1)?.textContent).toContain('message 3999');
  });

  it('tells a screen reader the whole answer, not its pieces', async () => {
    show();
    await soon(() => expect(find('.jac-welcome')).toBeTruthy());
    channel.say(started(0), delta(0, 'It ', 0));
    await soon(() => expect(find('[role=log]').getAttribute('aria-busy')).toBe('true'));
    const voice = find('[aria-live=polite]');
    expect(voice.textContent).toBe('');
    channel.say(delta(0, 'is 4.', 3), done(0, { length: 8 }));
    await soon(() => expect(voice.textContent).toBe('Agent said: It is 4.'));
    expect(find('[role=log]').getAttribute('aria-busy')).toBe('false');
  });

  it('shows a refusal', async () => {
    channel.hold();
    show();
    session.showRefusal('Restart the server.');
    await soon(() => expect(find('.jac-notice[role=alert]').textContent).toContain('Restart the server.'));
  });
});
