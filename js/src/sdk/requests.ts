/** Owns the check of what the page sends: requests of the right shape, the words of the page itself, and nothing else. */

import type { ToSdk } from '../frame/messages.js';
import type { PortRequest } from '../protocol.gen.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export function isRequest(message: unknown): message is PortRequest {
  if (!isObject(message) || typeof message['requestId'] !== 'string') return false;
  switch (message['type']) {
    case 'yaar:app-manifest-request':
      return true;
    case 'yaar:app-query-request':
      return typeof message['stateKey'] === 'string';
    case 'yaar:app-command-request':
      return typeof message['command'] === 'string';
    case 'yaar:app-hydrate-request':
      return isObject(message['state']);
    case 'yaar:app-dom-request':
      return typeof message['selector'] === 'string';
    default:
      return false;
  }
}

const FIELDS: Record<ToSdk['type'], Record<string, 'string' | 'number' | 'boolean' | 'object'>> = {
  'applet:theme': { theme: 'object' },
  'applet:reply': { id: 'number' },
  'applet:state': { data: 'object', rev: 'number' },
  'applet:file-changed': { path: 'string', event: 'string' },
  'applet:html': { html: 'string' },
  'applet:visible': { visible: 'boolean' },
};

export function isToSdk(message: unknown): message is ToSdk {
  if (!isObject(message) || !Object.hasOwn(FIELDS, String(message['type']))) return false;
  const fields = Object.entries(FIELDS[message['type'] as ToSdk['type']]);
  return fields.every(([name, kind]) => typeof message[name] === kind && message[name] !== null);
}
