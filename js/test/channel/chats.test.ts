import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel, type ChannelChat } from '../../src/channel/channel.js';
import type { Invoke } from '../../src/protocol.gen.js';
import { FakePipe } from './fakes.js';

const tick = (): Promise<void> => Promise.resolve();

let pipe: FakePipe;
let channel: Channel;
let ended: ReturnType<typeof vi.fn<() => void>>;

class FakeChat implements ChannelChat {
  told: unknown[] = [];
  connected(): void {
    this.told.push('connected');
    channel.send([{ type: 'openChat', id: 'c1' }]);
  }
  hear(message: { type: string }): void {
    this.told.push(message);
  }
  showRefusal(message: string): void {
    this.told.push(['refusal', message]);
  }
  unreachable(kept: unknown[]): void {
    this.told.push(['unreachable', kept]);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  pipe = new FakePipe();
  ended = vi.fn<() => void>();
  channel = new Channel({ session: 's', version: '0', id: 'page' }, pipe, ended);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a chat', () => {
  it('is connected when the host has had its hello, and again after a cut', () => {
    const chat = new FakeChat();
    channel.join(chat);
    expect(chat.told).toEqual([]);
    pipe.events.opened();
    expect(pipe.take().flat().map(({ type }) => type)).toEqual(['hello', 'openChat']);
    pipe.events.lost();
    pipe.events.opened();
    expect(chat.told).toEqual(['connected', 'connected']);
  });

  it('is connected at once where the host is there', () => {
    pipe.events.opened();
    const chat = new FakeChat();
    channel.join(chat);
    expect(chat.told).toEqual(['connected']);
  });

  it('hears what is said in the session, whatever another chat makes of it', () => {
    const [bad, good] = [new FakeChat(), new FakeChat()];
    bad.hear = () => {
      throw new Error('bad');
    };
    channel.join(bad);
    channel.join(good);
    const types = ['messageStarted', 'streamReady', 'streamConnected', 'stream', 'messageStatus', 'toolCall', 'messageOutput', 'messageDone', 'agentStatus'];
    const messages = types.map((type) => ({ type, any: 'thing' }));
    pipe.events.received(messages);
    expect(good.told).toEqual(messages);
    expect(console.error).toHaveBeenCalledTimes(types.length);
    expect(console.warn).not.toHaveBeenCalled();
  });

  it('hears nothing of what is for an applet that called, nor what has no proper id', () => {
    const chat = new FakeChat();
    channel.join(chat);
    pipe.events.received([{ type: 'stream', id: 'x', delta: 'a' }, { type: 'messageStatus', id: 5 }, { type: 'invokeComplete', id: 'x' }]);
    expect(chat.told).toEqual([]);
  });

  it('keeps the channel, and the last to leave says so', async () => {
    pipe.events.opened();
    const [one, two] = [new FakeChat(), new FakeChat()];
    channel.join(one);
    channel.join(two);
    vi.advanceTimersByTime(60_000);
    expect(ended).not.toHaveBeenCalled();
    await tick();
    pipe.take();
    channel.leave(one);
    channel.leave(one);
    await tick();
    expect(pipe.take()).toEqual([]);
    channel.leave(two);
    await tick();
    expect(pipe.take()).toEqual([[{ type: 'closeChat' }]]);
    pipe.events.received([{ type: 'agentStatus', agent: null }]);
    expect(two.told).toEqual(['connected']);
    vi.advanceTimersByTime(60_000);
    expect(ended).toHaveBeenCalledOnce();
  });

  it('is told of a refusal, then and later, and that there is no host', () => {
    const chat = new FakeChat();
    channel.join(chat);
    pipe.events.received([{ type: 'error', code: 'PROTOCOL_MISMATCH', message: 'Upgrade.' }]);
    const late = new FakeChat();
    channel.join(late);
    pipe.events.unreachable();
    expect([chat.told, late.told]).toEqual([[['refusal', 'Upgrade.'], ['unreachable', []]], [['refusal', 'Upgrade.'], ['unreachable', []]]]);
  });
});

describe('an invocation', () => {
  const invoke: Invoke = { type: 'invoke', id: 'mine', prompt: 'Hi' };

  it('brings its pieces as they come, then its result', async () => {
    pipe.events.opened();
    const pieces: unknown[] = [];
    const replies = channel.ask(invoke, (piece) => pieces.push(piece));
    await tick();
    expect(pipe.take().flat().at(-1)).toEqual(invoke);
    const status = { type: 'messageStatus', id: 'mine', streamId: 't', status: 'running' };
    const delta = { type: 'stream', id: 'mine', delta: 'a', at: 0 };
    pipe.events.received([status, delta, { type: 'stream', id: 'other', delta: 'b' }]);
    expect(pieces).toEqual([status, delta]);
    pipe.events.received([{ type: 'invokeComplete', id: 'mine', result: { text: 'a' }, error: null, code: null }]);
    expect(await replies).toMatchObject([{ result: { text: 'a' } }]);
    pipe.events.received([delta]);
    expect(pieces).toHaveLength(2);
  });

  it.each([
    [{ error: 'It broke.', code: 'TIMEOUT' }, 'TIMEOUT'],
    [{ error: 'It broke.', code: null }, 'AGENT_FAILED'],
  ])('that failed (%j) rejects with its code', async (fields, code) => {
    pipe.events.opened();
    const replies = channel.ask(invoke);
    pipe.events.received([{ type: 'invokeComplete', id: 'mine', result: null, ...fields }]);
    await expect(replies).rejects.toMatchObject({ code, message: 'It broke.' });
  });
});
