/** Owns the check of what a host sends. A message of the wrong shape is nobody's: it is dropped, and never throws. */

import type { AppProtocolRequest, WindowContent } from '../protocol.gen.js';

export type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
const isMap = (value: unknown): boolean => value === undefined || isObject(value);

export function isRequest(message: unknown): message is AppProtocolRequest {
  if (!isObject(message) || message['type'] !== 'APP_PROTOCOL_REQUEST') return false;
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
    default:
      return false;
  }
}

export function isContent(message: Fields): message is WindowContent & Fields {
  const { type, windowId, revision, content } = message;
  if (type !== 'windowContent' || typeof windowId !== 'string' || typeof revision !== 'number' || !isObject(content)) return false;
  return ['html', 'js', 'css', 'title'].every((name) => isText(content[name])) && isMap(content['permissions']) && isMap(content['modules']);
}
