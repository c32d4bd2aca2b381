/**
 * Owns the far end of the port in an exported file, where there is no page and no host: it brings the applet back to where it
 * was, keeps what it says in the browser's own storage where there is one, and says what is not possible.
 */

import { plainTheme } from '../frame/look.js';
import type { SdkConfig } from '../frame/messages.js';
import type { Json, PortRequest } from '../protocol.gen.js';

type Values = Record<string, Json>;
type Config = SdkConfig & Required<Pick<SdkConfig, 'standalone'>>;

/** What this browser has kept of the applet, since the file `of` that content was opened first. */
interface Saved {
  of: string;
  state: Values;
  snapshot: Values | null;
}

const NO_FILES = { error: 'An exported applet has no workspace: its files stayed where it was made.', code: 'STANDALONE' };
const NO_AGENT = { error: 'There is no agent in an exported file.', code: 'NO_AGENT' };

/** FNV-1a: only to tell one text from another. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** The browser's, before ours takes its name; some browsers have none for files. */
function browserStorage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

export class Standalone {
  readonly #storage = browserStorage();
  readonly #name: string;
  readonly #saved: Saved;
  #steps: PortRequest[] = [];
  #isRestored = false;

  constructor(
    private readonly config: Config,
    /** To the SDK, as from a page. */
    private readonly tell: (message: unknown) => void,
  ) {
    const { key, slug, state = {}, standalone } = config;
    this.#name = `jupyter_applets/${slug || key}`;
    // A file that was exported anew has news of its own.
    const of = digest(JSON.stringify([key, state, standalone]));
    this.#saved = this.#load(of) ?? { of, state, snapshot: null };
  }

  get state(): Values {
    return this.#saved.state;
  }

  followTheme(): void {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => this.tell({ type: 'applet:theme', theme: plainTheme(dark.matches) });
    dark.addEventListener('change', follow);
    follow();
  }

  postMessage(batch: any[]): void {
    for (const message of batch) this.#take(message);
  }

  #take(message: any): void {
    switch (message.type) {
      case 'applet:set-state':
        Object.assign(this.#saved.state, message.data);
        return this.#save();
      case 'yaar:app-snapshot':
        this.#saved.snapshot = message.state;
        return this.#save();
      case 'applet:call':
        return this.tell({ type: 'applet:reply', id: message.id, ...(message.method === 'agent' ? NO_AGENT : NO_FILES) });
      case 'applet:link':
        return void window.open(message.url, '_blank', 'noopener');
      case 'yaar:app-ready':
        return this.#restore(message.hydrates);
      case 'yaar:app-hydrate-response':
      case 'yaar:app-command-response':
        if (message.error) console.warn(`The applet was not brought back as it was: ${message.error}`);
        return this.#step();
    }
  }

  #restore(hydrates: boolean): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    const { snapshot, commands } = this.config.standalone;
    const kept = hydrates ? this.#saved.snapshot : null;
    const state = kept ?? (hydrates ? snapshot : null);
    if (state) this.#steps.push({ type: 'yaar:app-hydrate-request', requestId: 'restore', state });
    // A snapshot of our own is newer than all of them.
    const replayed = kept ? [] : commands;
    replayed.forEach(({ command, params }, at) => {
      this.#steps.push({ type: 'yaar:app-command-request', requestId: `replay-${at}`, command, params, replayed: true });
    });
    this.#step();
  }

  /** One at a time: the next when the one before was answered. */
  #step(): void {
    const next = this.#steps.shift();
    if (next) this.tell(next);
  }

  #load(of: string): Saved | null {
    try {
      const saved = JSON.parse(this.#storage?.getItem(this.#name) ?? 'null');
      return saved?.of === of ? saved : null;
    } catch {
      return null;
    }
  }

  #save(): void {
    try {
      this.#storage?.setItem(this.#name, JSON.stringify(this.#saved));
    } catch {
      // Full, or forbidden: the applet runs on, and starts next time from what the file has.
    }
  }
}
