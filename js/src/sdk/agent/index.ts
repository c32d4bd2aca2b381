/** The SDK's agent half, which the page sends when an applet first needs it: a function of the port to the page's half. */

import { follow, type Source } from './events.js';
import { invoke } from './invoke.js';
import { Link } from './link.js';
import { request } from './request.js';

export interface AgentSdk {
  invoke(prompt: unknown, options?: unknown): Promise<unknown>;
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  follow(source: Source): Promise<void>;
}

export function open(port: MessagePort): AgentSdk {
  const link = new Link(port);
  const fetch: AgentSdk['fetch'] = (input, init) => request(link, input, init);
  return {
    fetch,
    invoke: (prompt, options) => invoke(link, prompt, options),
    follow: (source) => follow(source, fetch),
  };
}
