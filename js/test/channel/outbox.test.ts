import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Outbox } from '../../src/channel/outbox.js';
import type { FromPage } from '../../src/protocol.gen.js';

const interaction = (content: string): FromPage => ({ type: 'interaction', windowId: 'w', content });
const answer = (data: unknown): FromPage => ({ type: 'APP_PROTOCOL_RESPONSE', requestId: 'r', windowId: 'w', response: { kind: 'query', data } });
const snapshot = (viewId: string, n: number): FromPage => ({ type: 'snapshot', windowId: 'w', viewId, state: { n } });

let outbox: Outbox;
const taken = (): unknown[][] => outbox.take().map((frame) => frame.map(({ text }) => JSON.parse(text)));

beforeEach(() => {
  outbox = new Outbox();
});

describe('a message over the limit', () => {
  beforeEach(() => {
    outbox.maxBytes = 2_000_000;
  });

  it('that is an answer becomes an answer that says so', () => {
    outbox.add([answer('x'.repeat(2_400_000))]);
    const error = 'The result is 2.4 MB as JSON; the limit is 2.0 MB (JupyterApplets.max_message_bytes).';
    expect(taken()).toEqual([[{ ...answer(null), response: { kind: 'query', data: null, error, code: 'TOO_LARGE' } }]]);
  });

  it('is measured in bytes, not in characters', () => {
    outbox.add([answer('ä'.repeat(1_100_000))]);
    expect(taken()).toMatchObject([[{ response: { code: 'TOO_LARGE' } }]]);
    outbox.add([answer('a'.repeat(1_100_000))]);
    expect(taken()).toMatchObject([[{ response: { data: 'a'.repeat(1_100_000) } }]]);
  });

  it('that nobody waits for is dropped with a warning', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    outbox.add([interaction('x'.repeat(3_000_000)), interaction('small')]);
    expect(taken()).toEqual([[interaction('small')]]);
    expect(warn).toHaveBeenCalledOnce();
  });
});

it('a question over the limit is refused to whoever asked it', () => {
  const refused = vi.fn(() => true);
  outbox = new Outbox(refused);
  outbox.maxBytes = 1000;
  outbox.add([{ type: 'writeFile', id: 'p1', path: 'a', content: 'x'.repeat(2000) }]);
  expect(taken()).toEqual([]);
  expect(refused).toHaveBeenCalledWith('p1', 'TOO_LARGE', expect.stringContaining('The message is 0.0 MB'));
});

it('an answer that JSON cannot hold becomes an answer that says so', () => {
  outbox.add([answer(10n)]);
  expect(taken()).toMatchObject([[{ response: { kind: 'query', data: null, code: 'RESULT_NOT_JSON' } }]]);
});

it('frames are cut so that none is over the limit, and nothing is lost or moved', () => {
  outbox.maxBytes = 1000;
  const messages = Array.from({ length: 50 }, (_, i) => interaction(`${i} ${'ä'.repeat(i)}`));
  outbox.add(messages);
  const frames = outbox.take();
  const sizes = frames.map((frame) => new TextEncoder().encode(`[${frame.map(({ text }) => text).join(',')}]`).length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
  expect(frames.flat().map(({ message }) => message)).toEqual(messages);
});

describe('while nothing can be sent', () => {
  it('keeps the newest thousand', () => {
    outbox.keep(Array.from({ length: 1100 }, (_, i) => interaction(String(i))));
    const kept = taken().flat() as { content: string }[];
    expect([kept.length, kept[0]?.content]).toEqual([1000, '100']);
  });

  it('keeps only the newest snapshot of each view', () => {
    outbox.keep([snapshot('a', 1), snapshot('b', 1), snapshot('a', 2)]);
    expect(taken()).toEqual([[snapshot('b', 1), snapshot('a', 2)]]);
  });

  it('keeps one change of state of each view and content, which is what its changes come to', () => {
    const set = (viewId: string, data: Record<string, number>, revision = 1) => ({ type: 'setState' as const, windowId: 'w', viewId, data, revision });
    outbox.keep([set('a', { x: 1, y: 1 }), set('b', { x: 2 }), set('a', { y: 3 }), set('a', { x: 9 }, 2)]);
    expect(taken()).toEqual([[set('b', { x: 2 }), set('a', { x: 1, y: 3 }), set('a', { x: 9 }, 2)]]);
  });

  it('forgets what a hello says again', () => {
    outbox.keep([{ type: 'viewClosed', viewId: 'v' }, { type: 'APP_PROTOCOL_READY', windowId: 'w' }]);
    expect(taken()).toEqual([]);
  });
});
