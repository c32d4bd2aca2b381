// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommPipe, type CommModel } from '../../src/channel/comm.js';

class FakeModel implements CommModel {
  listeners = new Set<(content: unknown) => void>();
  sent: any[] = [];
  on(_: 'msg:custom', callback: (content: unknown) => void): void {
    this.listeners.add(callback);
  }
  off(_: 'msg:custom', callback: (content: unknown) => void): void {
    this.listeners.delete(callback);
  }
  send(content: unknown): void {
    this.sent.push(content);
  }
  deliver(content: unknown): void {
    for (const listener of this.listeners) listener(content);
  }
}

const encoded = (message: object) => [{ message, text: JSON.stringify(message) }];
const frame = (seq: number, page = 'p') => ({ kind: 'frame', page, seq, messages: [{ n: seq }] });

let model: FakeModel;
let pipe: CommPipe;
let heard: unknown[];
let opened: number;
let left: number;

beforeEach(() => {
  model = new FakeModel();
  pipe = new CommPipe(model, 'p');
  heard = [];
  opened = left = 0;
  pipe.start({
    opened: () => (opened += 1),
    received: (messages) => heard.push(...messages),
    lost: () => {},
    unreachable: () => {},
    leaving: () => (left += 1),
  });
});
afterEach(() => pipe.stop());

it('opens at once, and numbers its frames from 1 with what it has seen', () => {
  pipe.send(encoded({ a: 1 }));
  model.deliver(frame(1));
  pipe.send(encoded({ a: 2 }));
  expect(opened).toBe(1);
  expect(model.sent).toEqual([
    { kind: 'frame', page: 'p', seq: 1, ack: 0, messages: [{ a: 1 }] },
    { kind: 'frame', page: 'p', seq: 2, ack: 1, messages: [{ a: 2 }] },
  ]);
});

describe('a gap', () => {
  it('is told; what comes again from there is taken, in order and once', () => {
    for (const seq of [1, 3, 3]) model.deliver(frame(seq));
    expect(model.sent).toEqual([{ kind: 'nack', page: 'p', expected: 2 }]);
    for (const seq of [2, 3, 3, 4]) model.deliver(frame(seq));
    expect(heard).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  });

  it('that comes later is told again', () => {
    for (const seq of [2, 1, 3]) model.deliver(frame(seq));
    expect(model.sent.map(({ expected }) => expected)).toEqual([1, 2]);
  });

  it('is told again with the next frame, when what was sent again was lost again', () => {
    for (const seq of [1, 3, 3]) model.deliver(frame(seq));
    const told = model.sent.length;
    model.deliver(frame(4));
    expect(model.sent.slice(told)).toEqual([{ kind: 'nack', page: 'p', expected: 2 }]);
    for (const seq of [2, 3, 4, 5, 6]) model.deliver(frame(seq));
    expect(heard).toEqual([1, 2, 3, 4, 5, 6].map((n) => ({ n })));
  });
});

it('a reset starts both counts anew, with another hello', () => {
  model.deliver(frame(1));
  pipe.send(encoded({ a: 1 }));
  model.deliver({ kind: 'reset', page: 'p' });
  expect(opened).toBe(2);
  pipe.send(encoded({ a: 2 }));
  expect(model.sent.at(-1)).toMatchObject({ seq: 1, ack: 0 });
  model.deliver(frame(1));
  expect(heard).toEqual([{ n: 1 }, { n: 1 }]);
});

describe('a page that goes away', () => {
  const show = (persisted: boolean): boolean => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));

  it('says so', () => {
    window.dispatchEvent(new Event('pagehide'));
    expect(left).toBe(1);
  });

  it('says hello again when it is brought back, counting anew', () => {
    pipe.send(encoded({ a: 1 }));
    show(false);
    expect(opened).toBe(1);
    show(true);
    expect(opened).toBe(2);
    pipe.send(encoded({ a: 2 }));
    expect(model.sent.at(-1)).toMatchObject({ seq: 1, ack: 0 });
  });

  it('has nothing to say after the end of the pipe', () => {
    pipe.stop();
    window.dispatchEvent(new Event('pagehide'));
    show(true);
    expect([left, opened]).toEqual([0, 1]);
  });
});

it.each([null, 5, {}, frame(1, 'another page'), { kind: 'frame', page: 'p', seq: '1', messages: [] }, { kind: 'frame', page: 'p', seq: 1 }])(
  'ignores %j',
  (content) => {
    model.deliver(content);
    expect([heard, model.sent]).toEqual([[], []]);
  },
);

it('hears nothing after its end', () => {
  pipe.stop();
  model.deliver(frame(1));
  expect(heard).toEqual([]);
});
