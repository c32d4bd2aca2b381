/** Owns the outer frame: it carries the content policy, holds the applet's frame, and passes messages on. Nothing else. */

import type { Greeting, Handover } from './messages.js';

export const SANDBOX = 'allow-scripts allow-forms allow-downloads';

/**
 * Runs in the outer frame as text, so it refers to nothing outside itself.
 * Hello and farewell need the SDK's key; `yaar:*` messages are relayed for applets that speak for themselves.
 */
function guard(key: string): void {
  const EARLY_LIMIT = 100;
  let relay: MessagePort | null = null;
  let early: unknown[] = [];

  function fromPage(event: MessageEvent): void {
    const [port, relayPort] = event.ports;
    if (event.data?.type !== 'applet:port' || !port || !relayPort) return;
    relay = relayPort;
    relay.onmessage = ({ data }) => {
      for (const message of data) frames[0]?.postMessage(message, '*');
    };
    if (early.length) relay.postMessage(early);
    early = [];
    frames[0]?.postMessage({ type: 'applet:port' } satisfies Handover, '*', [port]);
  }

  function fromApplet({ data }: MessageEvent): void {
    const type: unknown = data?.type;
    if ((type === 'applet:hello' || type === 'applet:leaving') && data.key === key) {
      relay?.close();
      relay = null;
      early = [];
      parent.postMessage({ type } satisfies Greeting, '*');
    } else if (typeof type === 'string' && type.startsWith('yaar:')) {
      if (relay) relay.postMessage([data]);
      else if (early.length < EARLY_LIMIT) early.push(data);
    }
  }

  addEventListener('message', (event) => {
    if (event.source === parent) fromPage(event);
    // A document that is going away has no source any more, but it has the key.
    else if (event.source === frames[0] || event.data?.key === key) fromApplet(event);
  });
}

const attribute = (text: string): string => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

/** The text of the outer frame, with the applet's document in it. `allow` is what its element in the page has, too. */
export function outerDocument(policy: string, key: string, inner: string, allow = ''): string {
  return [
    // A document of this kind takes the page's address as its base, and hands it down: the notebook's path, a token.
    '<!doctype html><html><head><base href="about:srcdoc">',
    `<meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">`,
    // Names that are only looked up are under no policy.
    '<meta http-equiv="x-dns-prefetch-control" content="off">',
    '<style>html,body{margin:0;height:100%;overflow:hidden}iframe{display:block;border:0;width:100%;height:100%}</style>',
    `<script>(${guard})(${JSON.stringify(key)})</script></head><body>`,
    `<iframe sandbox="${SANDBOX}" allow="${attribute(allow)}" srcdoc="${attribute(inner)}"></iframe></body></html>`,
  ].join('');
}
