/** Owns the check of what the page sends: requests of the right shape, the theme, and nothing else. */

import type { ThemeChanged } from '../frame/messages.js';
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
    default:
      return false;
  }
}

export function isThemeChange(message: unknown): message is ThemeChanged {
  return isObject(message) && message['type'] === 'applet:theme' && isObject(message['theme']);
}
