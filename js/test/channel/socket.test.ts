// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SocketPipe } from '../../src/channel/socket.js';

/** What a browser's socket does, at the test's word. */
class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  static get last(): FakeSocket {
    return this.all.at(-1) as FakeSocket;
  }
  readyState = 0;
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.readyState = 2;
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  cut(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

let pipe: SocketPipe;
let events: string[];
let heard: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(Math, 'random').mockReturnValue(1);
  FakeSocket.all = [];
  events = [];
  heard = [];
  pipe = new SocketPipe('ws://host/');
  pipe.start({
    opened: () => events.push('opened'),
    received: (messages) => heard.push(...messages),
    lost: () => events.push('lost'),
    unreachable: () => events.push('unreachable'),
    leaving: () => events.push('leaving'),
  });
});
afterEach(() => {
  pipe.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('that did not open', () => {
  beforeEach(() => {
    FakeSocket.last.cut();
    vi.advanceTimersByTime(500);
  });

  it('is tried once more', () => {
    expect(FakeSocket.all).toHaveLength(2);
    FakeSocket.last.open();
    expect(events).toEqual(['opened']);
  });

  it('twice has no host behind it', () => {
    FakeSocket.last.cut();
    vi.advanceTimersByTime(60_000);
    expect(events).toEqual(['unreachable']);
    expect(FakeSocket.all).toHaveLength(2);
  });
});

it('sends a batch as one array', () => {
  FakeSocket.last.open();
  pipe.send([
    { message: {}, text: '{"a":1}' },
    { message: {}, text: '{"b":2}' },
  ]);
  expect(FakeSocket.last.sent).toEqual(['[{"a":1},{"b":2}]']);
});

it('drops a broken frame, warns once, and hears the next', () => {
  FakeSocket.last.open();
  for (const data of ['{', new ArrayBuffer(2), '{"a":1}']) FakeSocket.last.onmessage?.({ data });
  expect(heard).toEqual([{ a: 1 }]);
  expect(console.warn).toHaveBeenCalledOnce();
});

describe('after a cut', () => {
  it('connects again, later and later, at most 10 s apart', () => {
    FakeSocket.last.open();
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      FakeSocket.last.cut();
      const before = FakeSocket.all.length;
      let waited = 0;
      while (FakeSocket.all.length === before) {
        vi.advanceTimersByTime(50);
        waited += 50;
      }
      waits.push(waited);
    }
    expect(waits).toEqual([500, 750, 1250, 2250, 4250, 8250, 10_000, 10_000]);
    FakeSocket.last.open();
    expect(events.filter((event) => event === 'opened')).toHaveLength(2);
  });

  it('does not wait when the network or the person is back', () => {
    FakeSocket.last.open();
    FakeSocket.last.cut();
    window.dispatchEvent(new Event('online'));
    expect(FakeSocket.all).toHaveLength(2);
    FakeSocket.last.cut();
    document.dispatchEvent(new Event('visibilitychange'));
    expect(FakeSocket.all).toHaveLength(3);
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(3);
  });
});

describe('a page that is looked at again after a long silence', () => {
  beforeEach(() => {
    FakeSocket.last.open();
    vi.advanceTimersByTime(46_000);
    document.dispatchEvent(new Event('visibilitychange'));
  });

  it('says hello, and is content with any word', () => {
    FakeSocket.last.onmessage?.({ data: '{}' });
    vi.advanceTimersByTime(60_000);
    expect(events).toEqual(['opened', 'opened']);
  });

  it('gives the connection up when none comes', () => {
    vi.advanceTimersByTime(5_000);
    expect(events).toEqual(['opened', 'opened', 'lost']);
    vi.advanceTimersByTime(500);
    expect(FakeSocket.all).toHaveLength(2);
  });
});

it('that is stopped stays closed', () => {
  FakeSocket.last.open();
  pipe.stop();
  FakeSocket.last.cut();
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.all).toHaveLength(1);
  expect(events).toEqual(['opened']);
});
