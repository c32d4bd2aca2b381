import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AppSnapshot } from '../../src/protocol.gen.js';
import { Snapshots } from '../../src/sdk/snapshot.js';

let sent: AppSnapshot[];
let snapshots: Snapshots;
let value: unknown;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  sent = [];
  value = 'first';
  snapshots = new Snapshots((message) => sent.push(message));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const watch = (handler: () => unknown = () => value): void =>
  snapshots.watch({ text: { snapshot: true, handler }, other: { handler: () => 'not kept' } });
const snapshot = (text: unknown) => ({ type: 'yaar:app-snapshot', state: { text } });

it('sends what changed, within a tenth of a second', async () => {
  watch();
  await pass(0);
  value = 'second';
  snapshots.touch();
  await pass(100);
  expect(sent).toEqual([snapshot('second')]);
  snapshots.touch();
  await pass(100);
  expect(sent).toHaveLength(1);
});

it('does not send what a document starts with: it may be about to be hydrated', async () => {
  watch();
  snapshots.touch();
  await pass(5000);
  expect(sent).toEqual([]);
});

it('does nothing when no key is marked', async () => {
  const handler = vi.fn();
  snapshots.watch({ a: { handler } });
  snapshots.touch();
  await pass(1000);
  expect(handler).not.toHaveBeenCalled();
});

describe('commands', () => {
  it('are in the snapshot that follows', async () => {
    watch();
    await pass(0);
    snapshots.changeStarted();
    value = 'by a command';
    snapshots.changeSettled();
    await pass(100);
    expect(sent).toEqual([snapshot('by a command')]);
  });

  it('that change nothing are followed by a snapshot too', async () => {
    watch();
    await pass(0);
    for (const count of [1, 2]) {
      snapshots.changeStarted();
      snapshots.changeSettled();
      await pass(200);
      expect(sent).toEqual(Array(count).fill(snapshot('first')));
    }
  });

  it('that run keep a snapshot from being taken', async () => {
    watch();
    await pass(0);
    snapshots.changeStarted();
    value = 'half done';
    snapshots.touch();
    await pass(1000);
    expect(sent).toEqual([]);
    value = 'done';
    snapshots.changeSettled();
    await pass(100);
    expect(sent).toEqual([snapshot('done')]);
  });

  it('that overlap are all in it', async () => {
    watch();
    await pass(0);
    snapshots.changeStarted();
    snapshots.changeStarted();
    snapshots.changeSettled();
    await pass(1000);
    expect(sent).toEqual([]);
    snapshots.changeSettled();
    await pass(100);
    expect(sent).toEqual([snapshot('first')]);
  });

  it('that begin while an async handler is read make that reading void', async () => {
    watch(async () => {
      const read = value;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return read;
    });
    await pass(50);
    value = 'before';
    snapshots.touch();
    await pass(120);
    snapshots.changeStarted();
    value = 'after';
    snapshots.changeSettled();
    await pass(2000);
    expect(sent).toEqual([snapshot('after')]);
  });
});

describe('a key', () => {
  it.each([['is too large', 'x'.repeat(300_000)], ['is a cycle', 10n], ['has nothing', undefined]])('that %s is left out', async (_, bad) => {
    snapshots.watch({ good: { snapshot: true, handler: () => value }, bad: { snapshot: true, handler: () => bad } });
    await pass(0);
    value = 'second';
    snapshots.touch();
    await pass(5000);
    expect(sent).toMatchObject([{ state: { good: 'second' } }]);
    expect(Object.keys(sent[0]?.state ?? {})).toEqual(['good']);
  });

  it('whose handler throws or rejects is left out', async () => {
    const throws = (): never => {
      throw new Error('no');
    };
    snapshots.watch({
      good: { snapshot: true, handler: () => value },
      throws: { snapshot: true, handler: throws },
      rejects: { snapshot: true, handler: () => Promise.reject(new Error('no')) },
    });
    await pass(0);
    value = 'second';
    snapshots.touch();
    await pass(5000);
    expect(sent).toMatchObject([{ state: { good: 'second' } }]);
  });
});
