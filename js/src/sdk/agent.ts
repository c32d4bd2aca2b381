/** Owns the door to the agent: what speaks with it, and with its sessions, is loaded when an applet first does. */

import type { Call } from './calls.js';
import type { Source } from './agent/events.js';
import type { AgentSdk } from './agent/index.js';

export type LoadAgent = () => Promise<AgentSdk>;

/** What failed is tried again by the next who asks. */
export function agentLoader(call: Call): LoadAgent {
  let loading: Promise<AgentSdk> | null = null;
  const load: LoadAgent = async () => {
    const { port1, port2 } = new MessageChannel();
    return (0, eval)(await call('agent', { port: port2 }, [port2]))(port1);
  };
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    }));
}

/** `EventSource` on one of the agent's streams is ours; others are the browser's. */
export function installEventSource(load: LoadAgent, isOurs: (url: string) => boolean): void {
  const construct = (target: typeof EventSource, args: unknown[], newTarget: Function): object => {
    const url = String(args[0]);
    if (!isOurs(url)) return Reflect.construct(target, args, newTarget);
    // What an applet can hold at once; `follow` does the rest.
    const source: Source = Object.assign(new EventTarget(), { url, readyState: 0, close: () => void (source.readyState = 2) });
    load().then(
      ({ follow }) => follow(source),
      () => {
        source.close();
        source.onerror?.(new Event('error'));
      },
    );
    return source;
  };
  window.EventSource = new Proxy(window.EventSource, { construct });
}
