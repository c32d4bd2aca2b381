import { describe, expect, it } from 'vitest';
import { readPage } from '../../src/chat/guards.js';
import { countPoints, skipPoints } from '../../src/chat/points.js';
import { Transcript } from '../../src/chat/transcript.js';
import { delta, done, message, started } from './fakes.js';

const page = (messages: unknown[], start = 0, agent: string | null = null) => readPage({ messages, start, agent })!;

function opened(messages: unknown[] = [], start = 0): Transcript {
  const transcript = new Transcript();
  transcript.open(page(messages, start));
  return transcript;
}

const texts = ({ turns }: Transcript) => turns.map(({ prompt, answer }) => [prompt?.text, answer?.text]);
const answer = (transcript: Transcript, streamId = 't0') => transcript.turn(streamId)?.answer;

describe('a transcript', () => {
  it('shows the same turn live as after a reload', () => {
    const live = opened();
    live.hear(started(0, { source: 'applet', appletSlug: 'calculator', image: 'i.png' }));
    live.hear(delta(0, 'It is ', 0));
    live.hear({ type: 'toolCall', streamId: 't0', call: { id: '1', name: 'app_query', arguments: {} } });
    live.hear({ type: 'toolCall', streamId: 't0', call: { id: '1', name: 'app_query', arguments: {}, result: 4, done: true } });
    live.hear({ type: 'messageOutput', streamId: 't0', output: { name: 'o.png', mime: 'image/png' } });
    live.hear(delta(0, '4.', 6));
    live.hear(done(0, { length: 8 }));
    const toolCalls = [{ id: '1', name: 'app_query', arguments: {}, result: 4, done: true }];
    const reloaded = opened([
      message(0, { source: 'applet', appletSlug: 'calculator', image: 'i.png' }),
      message(1, { content: 'It is 4.', toolCalls, outputs: [{ name: 'o.png', mime: 'image/png' }] }),
    ]);
    expect(live.turns).toEqual(reloaded.turns);
  });

  it('takes each piece once, however often it comes, and tells of a gap', () => {
    const transcript = opened();
    transcript.hear(started(0));
    expect(transcript.hear(delta(0, 'abc', 0))).toBe('change');
    expect(transcript.hear(delta(0, 'abc', 0))).toBe('nothing');
    expect(transcript.hear(delta(0, 'bcde', 1))).toBe('change');
    expect(transcript.hear(delta(0, 'x', 9))).toBe('gap');
    expect(transcript.hear(done(0, { length: 7 }))).toBe('gap');
    expect(answer(transcript)).toMatchObject({ text: 'abcde', status: 'done' });
  });

  it('counts characters as the host does', () => {
    const transcript = opened();
    transcript.hear(started(0));
    transcript.hear(delta(0, '😀é', 0));
    transcript.hear(delta(0, 'é😀!', 1));
    expect(transcript.hear(done(0, { length: 4 }))).toBe('change');
    expect(answer(transcript)?.text).toBe('😀é😀!');
    expect([countPoints('a😀\ud83d'), skipPoints('😀a😀', 2), skipPoints('ab', 5)]).toEqual([3, '😀', '']);
  });

  it('ignores what is hidden, unknown or of no shape', () => {
    const transcript = opened([message(0), message(1)]);
    const before = transcript.turns;
    const junk: unknown[] = [null, 3, 'x', [], {}, { type: 3 }, { type: 'stream' }, { type: 'stream', streamId: 't0', delta: 5 }];
    junk.push({ type: 'toolCall', streamId: 't0', call: null }, { type: 'toolCall', streamId: 't0', call: { id: 1 } });
    junk.push({ type: 'messageOutput', streamId: 't0', output: [] }, { type: 'messageStatus', streamId: 't0', status: 'odd' });
    junk.push(started(1, { showInChat: false }), delta(1, 'secret', 0), done(1), started(2, { prompt: null }), started(2, { index: -1 }));
    expect(junk.map((event) => transcript.hear(event))).toEqual(junk.map(() => 'nothing'));
    expect(transcript.turns).toBe(before);
    expect(readPage({ messages: [null, {}, message(0, { content: 1 }), message(0, { role: 'system' }), message(3, { toolCalls: [null], outputs: 'x' })] })?.messages).toHaveLength(1);
    expect([readPage(null), readPage({ messages: 'x' })]).toEqual([null, null]);
  });

  it('says what an answer waits for, live and after a reload', () => {
    const transcript = opened();
    transcript.hear(started(0));
    transcript.hear({ type: 'messageStatus', streamId: 't0', status: 'queued', message: 'Queued behind a running cell' });
    expect(answer(transcript)).toMatchObject({ status: 'queued', note: 'Queued behind a running cell', error: null });
    const reloaded = opened([message(0), message(1, { content: '', status: 'queued', error: 'Queued behind a running cell' })]);
    expect(answer(reloaded)).toEqual(answer(transcript));
    transcript.hear(delta(0, 'a', 0));
    expect(answer(transcript)).toMatchObject({ status: 'running', note: '' });
  });

  it('keeps what was said of an answer that failed, and knows what is under way', () => {
    const transcript = opened();
    transcript.hear(started(0));
    transcript.hear(started(1));
    expect([...transcript.active]).toEqual(['t0', 't1']);
    transcript.hear(delta(0, 'partly', 0));
    transcript.hear(done(0, { error: 'It broke.' }));
    transcript.hear({ type: 'messageStatus', streamId: 't0', status: 'running' });
    expect(answer(transcript)).toMatchObject({ text: 'partly', error: 'It broke.', status: 'done' });
    expect([...transcript.active]).toEqual(['t1']);
  });

  it('orders turns by their index, whatever comes first', () => {
    const transcript = opened([message(4), message(5)], 4);
    transcript.hear(started(4));
    transcript.hear(started(3));
    transcript.prepend(page([message(0), message(1), message(2), message(3)], 0));
    expect(transcript.turns.map(({ index }) => index)).toEqual([0, 2, 4, 6, 8]);
    expect(transcript.start).toBe(0);
    transcript.prepend(page([message(0)], 0));
    expect(transcript.turns).toHaveLength(5);
  });

  it('takes a page for the truth after a cut, and leaves as it is what did not change', () => {
    const transcript = opened([message(0), message(1), message(2), message(3)]);
    transcript.hear(started(2));
    transcript.hear(delta(2, 'half', 0));
    transcript.hear(started(3));
    const [first, second] = transcript.turns;
    transcript.open(page([message(2), message(3), message(4), message(5, { content: 'half and whole' })], 2, 'other'));
    expect(texts(transcript).slice(2)).toEqual([['message 4', 'half and whole']]);
    expect([transcript.turns[0], transcript.turns[1]]).toEqual([first, second]);
    expect(transcript.turns[1]).toBe(second);
    expect([transcript.start, transcript.agent, transcript.active.size]).toEqual([0, 'other', 0]);
  });

  it('lets go of what is older when something may be missing in between', () => {
    const transcript = opened([message(0), message(1)]);
    transcript.open(page([message(400), message(401)], 400));
    expect(transcript.turns.map(({ index }) => index)).toEqual([400]);
    expect(transcript.start).toBe(400);
  });

  it('goes on with a turn that another host has taken over', () => {
    const transcript = opened([message(0), message(1, { content: 'abc', error: 'The host went away.' })]);
    transcript.hear(started(0));
    transcript.hear(delta(0, 'abcdef', 0));
    expect(answer(transcript)).toMatchObject({ text: 'abcdef', status: 'running', error: null });
  });

  it('leaves the hidden out of pages, and gives what a person said', () => {
    const transcript = opened([message(0), message(1), message(2, { hidden: true }), message(3, { hidden: true }), message(4, { source: 'applet' }), message(5)]);
    expect(transcript.turns).toHaveLength(2);
    expect(transcript.ownPrompts()).toEqual(['message 0']);
  });

  it('is told who answers', () => {
    const transcript = opened();
    expect(transcript.hear({ type: 'agentStatus', agent: 'a' })).toBe('change');
    expect(transcript.hear({ type: 'agentStatus', agent: 'a' })).toBe('nothing');
    expect(transcript.agent).toBe('a');
  });
});
