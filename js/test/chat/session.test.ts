import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Session } from '../../src/chat/session.js';
import { delta, done, FakeChannel, makeSession, message, settled, started } from './fakes.js';

let channel: FakeChannel;
let session: Session;

const answers = () => session.transcript.turns.map(({ answer }) => answer?.text);
const history = (count: number) => Array.from({ length: count }, (_, index) => message(index));

beforeEach(() => {
  channel = new FakeChannel();
  session = makeSession(channel);
});

describe('a session', () => {
  it('opens with the newest messages and fetches some of the older ones ahead', async () => {
    channel.messages = history(3000);
    session.start();
    await vi.waitFor(() => expect(session.transcript.turns).toHaveLength(500));
    expect(channel.asked.map(({ before }) => before)).toEqual([undefined, 2800, 2600, 2400, 2200]);
    await session.loadOlder();
    expect(session.transcript.start).toBe(1800);
  });

  it('applies what it heard while a page was on its way, once', async () => {
    channel.messages = [message(0), message(1, { content: 'abc', status: 'running' })];
    channel.hold();
    session.start();
    channel.say(delta(0, 'bc', 1), delta(0, 'de', 3), done(0, { length: 5 }), started(1));
    expect(answers()).toEqual([]);
    channel.release?.();
    await settled();
    expect(answers()).toEqual(['abcde', '']);
    expect([...session.transcript.active]).toEqual(['t1']);
  });

  it('opens again after a gap, and gets what was missed', async () => {
    vi.useFakeTimers();
    channel.messages = [message(0), message(1, { content: 'a', status: 'running' })];
    session.start();
    await settled();
    channel.messages[1]!.content = 'abcd';
    channel.say(delta(0, 'd', 3), delta(0, 'e', 4));
    await vi.advanceTimersByTimeAsync(1100);
    expect(channel.asked.filter(({ type }) => type === 'openChat')).toHaveLength(2);
    expect(answers()).toEqual(['abcd']);
    channel.say(delta(0, 'e', 4));
    expect(answers()).toEqual(['abcde']);
    vi.useRealTimers();
  });

  it('opens again after a cut and keeps what it has', async () => {
    channel.messages = history(4);
    session.start();
    await settled();
    const [first] = session.transcript.turns;
    channel.messages.push(message(4), message(5));
    session.connected();
    expect(session.transcript.turns).toHaveLength(2);
    await settled();
    expect(session.transcript.turns).toHaveLength(3);
    expect(session.transcript.turns[0]).toBe(first);
  });

  it('says that it is connecting, or what went wrong with a way to try again', async () => {
    channel.failures.set('openChat', { code: 'LINK_LOST', message: 'lost' });
    session.start();
    await settled();
    expect(session.notice).toMatchObject({ text: 'Connecting…', kind: 'status' });
    channel.failures.set('openChat', { code: 'BROKEN', message: 'The disk is full.' });
    session.connected();
    await settled();
    expect(session.notice).toMatchObject({ text: 'The messages could not be read. The disk is full.', kind: 'alert' });
    channel.failures.clear();
    session.notice?.retry?.();
    await settled();
    expect([session.notice, session.transcript.start]).toEqual([null, 0]);
  });

  it('sends, and rejects with words', async () => {
    session.start();
    await session.send('hello', null);
    expect(channel.asked.at(-1)).toMatchObject({ type: 'sendMessage', prompt: 'hello' });
    expect(channel.asked.at(-1)).not.toHaveProperty('imageData');
    channel.failures.set('sendMessage', { code: 'TOO_LARGE', message: 'The prompt is too long.' });
    await expect(session.send('x', 'data:image/png;base64,')).rejects.toThrow('The prompt is too long.');
    channel.failures.set('sendMessage', { code: 'LINK_LOST', message: 'lost' });
    await expect(session.send('x', null)).rejects.toThrow('There is no connection right now.');
  });

  it('stops the answer that is being written, else the newest that waits', async () => {
    session.start();
    await settled();
    await session.stop();
    expect(channel.asked).toHaveLength(1);
    channel.say(started(0), started(1));
    for (const number of [0, 1]) channel.say({ type: 'messageStatus', streamId: `t${number}`, status: 'queued' } as never);
    expect(session.underWay()).toBe('t1');
    channel.say({ type: 'messageStatus', streamId: 't0', status: 'running' } as never);
    await session.stop();
    expect(channel.asked.at(-1)).toEqual({ type: 'cancelMessage', streamId: 't0' });
  });

  it('goes over to another channel where there is no host behind the first', async () => {
    const other = new FakeChannel();
    other.messages = history(2);
    session = makeSession(channel, other);
    channel.failures.set('openChat', { code: 'LINK_LOST', message: 'lost' });
    session.start();
    session.unreachable();
    await settled();
    expect(session.transcript.turns).toHaveLength(1);
    session.dispose();
    expect(other.chats.size).toBe(0);
  });

  it('announces answers when they are whole, and what others said', async () => {
    const said: string[] = [];
    session.announced = (text) => said.push(text);
    channel.messages = history(2);
    session.start();
    await settled();
    channel.say(started(1, { source: 'applet', appletSlug: 'calculator', prompt: '2+2' }), delta(1, '4', 0));
    expect(said).toEqual(['calculator said: 2+2']);
    channel.say(done(1, { length: 1 }), done(1, { length: 1 }));
    channel.say(started(2), done(2, { error: 'no' }));
    expect(said).toEqual(['calculator said: 2+2', 'Agent said: 4']);
  });

  it('reads an output once, and again after it failed', async () => {
    session.start();
    channel.failures.set('readOutput', { code: 'NOT_FOUND', message: 'gone' });
    await expect(session.readOutput('a')).rejects.toThrow('gone');
    channel.failures.clear();
    channel.outputs['a'] = { mime: 'text/plain', data: 'x' };
    expect(await Promise.all([session.readOutput('a'), session.readOutput('a')])).toMatchObject([{ data: 'x' }, { data: 'x' }]);
    expect(channel.asked.filter(({ type }) => type === 'readOutput')).toHaveLength(2);
    await expect(session.readOutput('b')).rejects.toThrow('something else');
  });
});
