// @vitest-environment happy-dom
import { beforeEach, expect, it } from 'vitest';
import { socketUrl } from '../../src/channel/server.js';

function pageConfig(text: string): void {
  document.head.innerHTML = '<script id="jupyter-config-data" type="application/json"></script>';
  (document.head.firstChild as Element).textContent = text;
}

beforeEach(() => {
  document.head.innerHTML = '';
  window.location.href = 'https://hub.example/user/me/lab/tree/a.ipynb';
});

it.each([
  [{ baseUrl: '/' }, 'wss://hub.example/applets/ws/applet?session=a%2Fb.ipynb'],
  [{ baseUrl: '/user/me/', token: '' }, 'wss://hub.example/user/me/applets/ws/applet?session=a%2Fb.ipynb'],
  [{ baseUrl: '/user/me', token: 't&k' }, 'wss://hub.example/user/me/applets/ws/applet?session=a%2Fb.ipynb&token=t%26k'],
  [{ baseUrl: 'http://other:8888/x/' }, 'ws://other:8888/x/applets/ws/applet?session=a%2Fb.ipynb'],
  [{ baseUrl: '/', wsUrl: 'wss://sockets.example/y' }, 'wss://sockets.example/y/applets/ws/applet?session=a%2Fb.ipynb'],
])('the page config %j leads to %s', (config, url) => {
  pageConfig(JSON.stringify(config));
  expect(socketUrl('a/b.ipynb')).toBe(url);
});

it.each(['', 'nonsense', 'null', '{}', '{"baseUrl":5}'])('the page config %j leads nowhere', (text) => {
  pageConfig(text);
  expect(socketUrl('s')).toBeNull();
});

it('a page without a config is no page of a Jupyter server', () => {
  expect(socketUrl('s')).toBeNull();
});
