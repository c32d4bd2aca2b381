import { describe, expect, it } from 'vitest';
import { Refused, target } from '../../src/agent/paths.js';

const refusal = (method: string, url: string): Refused => {
  try {
    return target(method, url) as never;
  } catch (error) {
    return error as Refused;
  }
};

describe('an applet reaches', () => {
  it.each([
    ['GET', '/api/sessions', 'sessions', {}],
    ['POST', '/api/sessions/', 'sessions', {}],
    ['POST', '/api/sessions/s-1/messages', 'sessions/s-1/messages', {}],
    ['POST', '/api/sessions/work%2Fa%20b.ipynb/messages', 'sessions/work%2Fa%20b.ipynb/messages', {}],
    ['POST', '/api/sessions/ä?/messages', null, {}],
    ['POST', '/api/sessions/ä%3F%23/messages', 'sessions/%C3%A4%3F%23/messages', {}],
    ['POST', '/api/sessions/sessions/messages', 'sessions/sessions/messages', {}],
    ['POST', '/api/message', 'message', {}],
    ['GET', '/api/stream/0a-B_9', 'stream/0a-B_9', {}],
    ['DELETE', '/api/stream/0a', 'stream/0a', {}],
    ['GET', '/api/history?session=a%2Fb&limit=5&before=7&hidden=1', 'history', { session: 'a/b', limit: '5', before: '7', hidden: '1' }],
  ])('%s %s', (method, url, path, query) => {
    if (path === null) expect(refusal(method, url).status).toBe(404);
    else expect(target(method, url)).toEqual({ path, query });
  });
});

const ATTACKS = [
  ...['/api/contents', '/api/kernels', '/api/terminals', '/api/shutdown', '/api/applet/file?path=a', '/api/applets', '/api/', '/api', '/', ''],
  ...['/api/sessions/../kernels', '/api/sessions/../../api/kernels', '/api/sessions/%2e%2e/messages', '/api/sessions/../messages'],
  ...['/api/sessions/..%2f..%2fkernels/messages', '/api/sessions/a%2F..%2Fb/messages', '/api/sessions/%252e%252e%252fx/messages', '/api/sessions/.%2e/messages'],
  ...['/api/sessions/./messages', '/api/sessions//messages', '/api/sessions/a\\b/messages', '/api/sessions/a%5Cb/messages', '/api/sessions/a%00/messages'],
  ...['/api/sessions/a%0d%0aX: y/messages', '/api/sessions/%ff/messages', '/api/sessions/%/messages', '/api/sessions/a/b/messages', '/api/sessions/a/messages/b'],
  ...['/api/sessions/a%E2%80%AEb/messages', '/api/sessions/a/messages#x', '/api/sessions/a;b=c/messages/..', '/api/stream/../sessions', '/api/stream/..%2fsessions'],
  ...['/api/stream/a.b', '/api/stream/a%20', '/api/stream/', '/api/stream/a/b', `/api/stream/${'a'.repeat(129)}`, '/api/stream/a\n', '/api/history/..', '/api/history\n'],
  ...['/api/historyx', '/API/history', '//evil.example/api/history', 'https://evil.example/api/history', '/../api/history', '/api/../api/history', 'api/history'],
  ...['/api/history?token=1', '/api/history?windowId=other', '/api/history?consent=1', '/api/history?revision=9', '/api/history?windowSession=x', '/api/history?byPerson=1'],
  ...['/api/history?__proto__=1', '/api/history?session=a&_xsrf=1', '/api/message?raw=1'],
];

it.each(ATTACKS)('nobody reaches %j', (url) => {
  for (const method of ['GET', 'POST', 'DELETE']) expect(refusal(method, url)).toBeInstanceOf(Refused);
});

it.each([
  ['PUT', '/api/sessions'],
  ['DELETE', '/api/sessions'],
  ['GET', '/api/message'],
  ['POST', '/api/stream/a'],
  ['POST', '/api/history'],
  ['HEAD', '/api/history'],
  ['get', '/api/history'],
  ['GET\r\nX: y', '/api/history'],
  ['__proto__', '/api/history'],
])('the method %j is not understood at %s', (method, url) => {
  expect(refusal(method, url).status).toBe(405);
});
