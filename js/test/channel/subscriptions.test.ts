import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import { FakePipe, FakeView } from './fakes.js';

let pipe: FakePipe;
let channel: Channel;
const one = new FakeView('v1', 'w');
const two = new FakeView('v2', 'w');
const other = new FakeView('v3', 'other');

const subscribe = ({ viewId, windowId }: FakeView, path: string, consent = false, revision = 1): Promise<void> =>
  channel.subscribe(viewId, { windowId, revision, consent }, path);
const sent = async (): Promise<any[]> => {
  await Promise.resolve();
  return pipe.take().flat();
};
/** Answers what was asked, and tells what that was. */
const agree = async (): Promise<any[]> => {
  const asked = await sent();
  pipe.events.received(asked.filter(({ id }) => id).map(({ id }) => ({ type: 'result', id })));
  return asked.map(({ type, windowId, path }) => [type, windowId, path]);
};
const change = (path: string, windowId?: string): void =>
  pipe.events.received([{ type: 'fileChanged', path, event: 'modified', ...(windowId ? { windowId } : {}) }]);

beforeEach(async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  pipe = new FakePipe();
  channel = new Channel({ session: 's', version: '0', id: 'page' }, pipe, () => {});
  pipe.events.opened();
  for (const view of [one, two, other]) channel.attach(view);
  for (const view of [one, two, other]) view.told.length = 0;
  await sent();
});

describe('two views of a window that subscribe to one file', () => {
  it('ask once, and are both told', async () => {
    const both = Promise.all([subscribe(one, 'a.csv'), subscribe(two, 'a.csv')]);
    expect(await agree()).toEqual([['subscribe', 'w', 'a.csv']]);
    await both;
    change('a.csv', 'w');
    change('a.csv', 'other');
    const told = [['file', 'a.csv', 'modified']];
    expect([one.told, two.told, other.told]).toEqual([told, told, []]);
  });

  it('are one subscription, which ends with the last', async () => {
    void subscribe(one, 'a.csv');
    void subscribe(two, 'a.csv');
    await agree();
    channel.unsubscribe(one, 'a.csv');
    expect(await agree()).toEqual([]);
    change('a.csv', 'w');
    expect([one.told.length, two.told.length]).toEqual([0, 1]);
    channel.unsubscribeAll('v2');
    expect(await agree()).toEqual([['unsubscribe', 'w', 'a.csv']]);
  });

  it('are both refused, and may ask again', async () => {
    const both = Promise.allSettled([subscribe(one, '.env'), subscribe(two, '.env')]);
    const [{ id }] = await sent();
    pipe.events.received([{ type: 'error', id, code: 'PATH_REFUSED', message: 'No.' }]);
    expect(await both).toMatchObject([{ reason: { code: 'PATH_REFUSED' } }, { reason: { code: 'PATH_REFUSED' } }]);
    void subscribe(one, '.env', true).catch(() => {});
    expect(await sent()).toMatchObject([{ type: 'subscribe', path: '.env', consent: true }]);
  });
});

it.each(['', '.', 'data', 'data/'])('a folder named %j tells of what is in it', async (folder) => {
  void subscribe(one, folder);
  await agree();
  const path = folder.startsWith('data') ? 'data/a.csv' : 'a.csv';
  change(path, 'w');
  change('database/a.csv', 'w');
  expect(one.told[0]).toEqual(['file', path, 'modified']);
  expect(one.told.length).toBe(folder.startsWith('data') ? 1 : 2);
});

it('what was consented to is said again with the consent after a cut', async () => {
  void subscribe(one, 'a.csv', true);
  await agree();
  pipe.events.lost();
  pipe.events.opened();
  expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'subscribe', windowId: 'w', path: 'a.csv', consent: true }]);
});

it('what the next content wants too is said again in its name after a cut', async () => {
  void subscribe(one, 'a.csv');
  void subscribe(two, 'a.csv', false, 2);
  await agree();
  pipe.events.lost();
  pipe.events.opened();
  expect(await sent()).toMatchObject([{ type: 'hello' }, { type: 'subscribe', path: 'a.csv', revision: 2 }]);
});
