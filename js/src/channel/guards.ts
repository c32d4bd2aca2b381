/** Owns the check of what a host sends. A message of the wrong shape is nobody's: it is dropped, and never throws. */

import type { AppProtocolRequest, Content, ToPage } from '../protocol.gen.js';

export type Fields = Record<string, unknown>;

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'array';
type Shape = Record<string, Kind | `${Kind}?`>;

/** What only chats read, and so they check it. */
type ForChats = `message${'Started' | 'Status' | 'Output' | 'Done'}` | `stream${'' | 'Ready' | 'Connected'}` | 'toolCall' | 'agentStatus';
const FOR_CHATS = /^(message|stream|toolCall$|agentStatus$)/;

/** What the page reads of each message. A `?` means that it may be absent, or null. */
const SHAPES: Record<Exclude<ToPage['type'], 'APP_PROTOCOL_REQUEST' | ForChats>, Shape> = {
  welcome: { maxMessageBytes: 'number' },
  error: { code: 'string', message: 'string', id: 'string?' },
  result: { id: 'string' },
  windowContent: {
    ...{ windowId: 'string', revision: 'number', content: 'object?', viewId: 'string?' },
    ...{ state: 'object?', rev: 'number?', granted: 'object?', run: 'string?' },
  },
  contentChunk: { windowId: 'string', revision: 'number', at: 'number', html: 'string' },
  windowClosed: { windowId: 'string' },
  windows: { windows: 'array', active: 'string?' },
  stateUpdate: { data: 'object', windowId: 'string?', viewId: 'string?', rev: 'number?' },
  fileContent: { path: 'string', chunk: 'string', done: 'boolean', encoding: 'string?', version: 'string?', id: 'string?' },
  fileWritten: { path: 'string', version: 'string', id: 'string?' },
  fileList: { path: 'string', files: 'array', id: 'string?' },
  fileChanged: { path: 'string', event: 'string', windowId: 'string?' },
  invokeComplete: { id: 'string?', error: 'string?', code: 'string?' },
};

const CONTENT: Shape = {
  ...{ html: 'string?', js: 'string?', css: 'string?', title: 'string?', slug: 'string?' },
  ...{ permissions: 'object?', modules: 'object?', files: 'object?', streaming: 'boolean?' },
};

const WINDOW: Shape = { windowId: 'string', title: 'string', renderer: 'string', revision: 'number', ready: 'boolean', shown: 'boolean' };

const EVENTS: unknown[] = ['created', 'modified', 'deleted'];

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

function isOf(value: unknown, kind: Kind | `${Kind}?`): boolean {
  if (kind.endsWith('?') && (value === undefined || value === null)) return true;
  const wanted = kind.replace('?', '');
  if (wanted === 'array') return Array.isArray(value);
  return wanted === 'object' ? isObject(value) : typeof value === wanted;
}

const fits = (value: unknown, shape: Shape): boolean =>
  isObject(value) && Object.entries(shape).every(([name, kind]) => isOf(value[name], kind));

export const isContent = (value: unknown): value is Content => fits(value, CONTENT);

function isRequest(message: Fields): boolean {
  const { requestId, windowId, request } = message;
  if (typeof requestId !== 'string' || typeof windowId !== 'string' || !isObject(request)) return false;
  switch (request['kind']) {
    case 'manifest':
      return true;
    case 'query':
      return typeof request['stateKey'] === 'string';
    case 'command':
      return typeof request['command'] === 'string';
    case 'hydrate':
      return isObject(request['state']);
    case 'dom':
      return typeof request['selector'] === 'string';
    default:
      return false;
  }
}

/** A message of a known type, with the fields that the page reads. */
export function isToPage(message: unknown): message is ToPage {
  if (!isObject(message)) return false;
  const { type } = message;
  if (type === 'APP_PROTOCOL_REQUEST') return isRequest(message);
  if (typeof type !== 'string') return false;
  if (FOR_CHATS.test(type)) return isOf(message['id'], 'string?');
  if (!Object.hasOwn(SHAPES, type) || !fits(message, SHAPES[type as keyof typeof SHAPES])) return false;
  switch (type) {
    case 'windowContent':
      return message['content'] === undefined || message['content'] === null || isContent(message['content']);
    case 'windows':
      return (message['windows'] as unknown[]).every((window) => fits(window, WINDOW));
    case 'fileChanged':
      return EVENTS.includes(message['event']);
    default:
      return true;
  }
}

export const isAsk = (message: ToPage): message is AppProtocolRequest => message.type === 'APP_PROTOCOL_REQUEST';
