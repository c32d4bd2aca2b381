/** The golden messages, which the Python side reads too: what one side sends, the other must take. */

import { beforeEach, describe, expect, it, vi } from 'vitest';
import app from '../../tests/vectors/app.json';
import channelVectors from '../../tests/vectors/channel.json';
import link from '../../tests/vectors/link.json';
import sessions from '../../tests/vectors/sessions.json';
import { Channel } from '../src/channel/channel.js';
import { Conversation } from '../src/frame/conversation.js';
import type { Ask, FromPage } from '../src/protocol.gen.js';
import { isRequest } from '../src/sdk/requests.js';
import { FakePipe, FakeView } from './channel/fakes.js';

interface Vector {
  as: string;
  message: any;
  why?: string;
}

const vectors = (list: 'messages' | 'refused', as: string): [string, any][] =>
  ([...app[list], ...channelVectors[list], ...link[list], ...sessions[list]] as Vector[]).filter((vector) => vector.as === as).map(({ message, why }) => [why ?? JSON.stringify(message), message]);

const asks: Record<string, Ask> = {
  manifest: { kind: 'manifest' },
  query: { kind: 'query', stateKey: 'x' },
  command: { kind: 'command', command: 'x' },
  hydrate: { kind: 'hydrate', state: {} },
  dom: { kind: 'dom', selector: 'x' },
};

function makeConversation(): { conversation: Conversation; sent: FromPage[] } {
  const sent: FromPage[] = [];
  const conversation = new Conversation('v', 'w', {
    post: () => true,
    send: (messages) => sent.push(...messages),
    heard: () => {},
  });
  return { conversation, sent };
}

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReset().mockImplementation(() => {});
});

describe('host → page', () => {
  const receive = (message: unknown): void => {
    const pipe = new FakePipe();
    const channel = new Channel({ session: 's', version: '0', id: 'p' }, pipe, () => {});
    channel.attach(new FakeView('v', 'sheet'));
    pipe.events.received([message]);
    channel.close();
  };
  it.each(vectors('messages', 'ToPage').filter(([, { type }]) => type !== 'error'))('takes %s', (_, message) => {
    receive(message);
    expect(console.warn).not.toHaveBeenCalled();
  });
  it.each(vectors('refused', 'ToPage'))('drops a message with %s', (_, message) => {
    receive(message);
    expect(console.warn).toHaveBeenCalledOnce();
  });
});

describe('page → applet', () => {
  it.each(vectors('messages', 'PortRequest'))('takes %s', (_, message) => {
    expect(isRequest(message)).toBe(true);
  });
  it.each(vectors('refused', 'PortRequest'))('drops a message with %s', (_, message) => {
    expect(isRequest(message)).toBe(false);
  });
});

describe('applet → page', () => {
  it.each(vectors('messages', 'PortResponse'))('takes %s', (_, message) => {
    const { conversation, sent } = makeConversation();
    const kind = /^yaar:app-(\w+)-response$/.exec(message.type)?.[1] ?? '';
    conversation.request([{ type: 'APP_PROTOCOL_REQUEST', requestId: message.requestId, windowId: 'w', request: asks[kind] as Ask }]);
    conversation.receive([message, message], 'port');
    expect(sent).toMatchObject([{ type: 'APP_PROTOCOL_RESPONSE', requestId: message.requestId, response: { kind } }]);
  });
  it.each(vectors('messages', 'PortNotice'))('takes %s', (_, message) => {
    vi.useFakeTimers();
    const { conversation, sent } = makeConversation();
    conversation.receive([message], 'port');
    vi.runAllTimers();
    vi.useRealTimers();
    expect(sent).toHaveLength(1);
  });
  it.each([...vectors('refused', 'PortNotice'), ...vectors('refused', 'PortResponse')])('drops a message with %s', (_, message) => {
    const { conversation, sent } = makeConversation();
    conversation.receive([message], 'port');
    expect(sent).toEqual([]);
  });
});
