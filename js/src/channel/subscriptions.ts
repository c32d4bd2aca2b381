/** Owns which views want to hear of which files. A window subscribes once per path, however many of its views do. */

import type { Asker } from '../files/service.js';
import type { FileChanged, Subscribe } from '../protocol.gen.js';

interface Entry extends Asker {
  path: string;
  viewIds: Set<string>;
  /** Fulfilled when the host agreed. */
  agreed: Promise<unknown>;
}

const keyOf = (windowId: string, path: string): string => JSON.stringify([windowId, path]);

/** A folder's subscription tells of what is in it. */
const covers = (subscribed: string, path: string): boolean =>
  path === subscribed || subscribed === '' || subscribed === '.' || path.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);

export class Subscriptions {
  readonly #entries = new Map<string, Entry>();

  /** `ask` is called for the first view of a window that wants the path. One that fails is forgotten. */
  async add(viewId: string, wanted: Asker & { path: string }, ask: () => Promise<unknown>): Promise<void> {
    const key = keyOf(wanted.windowId, wanted.path);
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { ...wanted, viewIds: new Set(), agreed: ask() };
      this.#entries.set(key, entry);
    }
    entry.viewIds.add(viewId);
    // The views of a window take its next content one after the other.
    entry.revision = Math.max(entry.revision, wanted.revision);
    try {
      await entry.agreed;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** True when no view of the window wants it any more. */
  remove(viewId: string, windowId: string, path: string): boolean {
    const key = keyOf(windowId, path);
    const entry = this.#entries.get(key);
    if (!entry?.viewIds.delete(viewId) || entry.viewIds.size) return false;
    return this.#entries.delete(key);
  }

  /** The view's document ended: what it alone had wanted is given back, to be unsubscribed. */
  removeAll(viewId: string): { windowId: string; path: string }[] {
    return [...this.#entries.values()].filter(({ windowId, path }) => this.remove(viewId, windowId, path));
  }

  /** Those who subscribed to what changed. */
  viewsFor({ path, windowId }: FileChanged): Set<string> {
    const views = new Set<string>();
    for (const entry of this.#entries.values()) {
      if ((windowId ?? entry.windowId) !== entry.windowId || !covers(entry.path, path)) continue;
      for (const viewId of entry.viewIds) views.add(viewId);
    }
    return views;
  }

  /** For a host that has just been greeted again. */
  messages(): Subscribe[] {
    return [...this.#entries.values()].map(({ windowId, path, revision, consent }) => ({ type: 'subscribe', windowId, path, revision, consent }));
  }
}
