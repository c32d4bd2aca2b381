/** What all widgets of the page have in common. Each may be a module of its own, so it hangs on the global object. */

import { PROTOCOL } from '../protocol.gen.js';
import type { Channel } from './channel.js';

interface Shared {
  pageId: string;
  /** The sockets' channels, by session. */
  channels: Map<string, Channel>;
  /** The texts of our bundles, by name and version. */
  texts: Map<string, Promise<string>>;
  modules: Map<string, Promise<unknown>>;
  /** The contents that a host or a person has let run in this page. */
  ran: Set<string>;
}

export const randomId = (): string => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export function shared(): Shared {
  const slot = Symbol.for(`jupyter_applets/${PROTOCOL}`);
  const holder = globalThis as unknown as Record<symbol, Shared | undefined>;
  return (holder[slot] ??= { pageId: randomId(), channels: new Map(), texts: new Map(), modules: new Map(), ran: new Set() });
}

export const noteRun = (place: string): void => void shared().ran.add(place);

export const hasRun = (place: string): boolean => shared().ran.has(place);
