/**
 * Owns `localStorage` and `sessionStorage` inside an applet, because an opaque origin has none: in memory, and the local
 * one also with the applet's state.
 */

import type { Json } from '../protocol.gen.js';
import { type AppState, STORAGE_KEY } from './state.js';

type Items = Record<string, string>;

/** In characters, names and values together. */
const LIMIT = 1024 * 1024;

class MemoryStorage implements Storage {
  #items = new Map<string, string>();
  #size = 0;
  [name: string]: unknown;

  constructor(private readonly changed: () => void) {}

  items(): Items {
    return Object.fromEntries(this.#items);
  }
  /** In place of all there is; gives what is other than before. */
  replace(items: Items): { key: string; oldValue: string | null; newValue: string | null }[] {
    const before = this.#items;
    this.#items = new Map(Object.entries(items));
    this.#size = [...this.#items].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
    return [...new Set([...before.keys(), ...this.#items.keys()])]
      .map((key) => ({ key, oldValue: before.get(key) ?? null, newValue: this.#items.get(key) ?? null }))
      .filter(({ oldValue, newValue }) => oldValue !== newValue);
  }

  get length(): number {
    return this.#items.size;
  }
  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.#items.get(String(key)) ?? null;
  }
  setItem(name: string, text: string): void {
    const [key, value] = [String(name), String(text)];
    const before = this.#items.get(key);
    if (before === value) return;
    const size = this.#size + value.length - (before === undefined ? -key.length : before.length);
    if (size > LIMIT) throw new DOMException(`Setting the value of '${key}' exceeded the quota.`, 'QuotaExceededError');
    this.#size = size;
    this.#items.set(key, value);
    this.changed();
  }
  removeItem(name: string): void {
    const key = String(name);
    const before = this.#items.get(key);
    if (before === undefined) return;
    this.#size -= key.length + before.length;
    this.#items.delete(key);
    this.changed();
  }
  clear(): void {
    if (!this.#items.size) return;
    this.#items.clear();
    this.#size = 0;
    this.changed();
  }
}

/** What a storage has that is no item. */
const METHODS = ['length', 'key', 'getItem', 'setItem', 'removeItem', 'clear'];
const isOwn = (name: string | symbol): boolean => METHODS.includes(name as string) || name in Object.prototype;

/** The storage as the web's is: its items are also properties, and there is nothing else to see. */
function shown(storage: MemoryStorage): Storage {
  const isItem = (name: string | symbol): name is string => typeof name === 'string' && !isOwn(name);
  return new Proxy(storage, {
    get(_, name) {
      if (isItem(name)) return storage.getItem(name) ?? undefined;
      const value: unknown = Reflect.get(storage, name);
      return typeof value === 'function' ? value.bind(storage) : value;
    },
    set(_, name, value) {
      if (isItem(name)) storage.setItem(name, value);
      return true;
    },
    has: (_, name) => isOwn(name) || (isItem(name) && storage.getItem(name) !== null),
    deleteProperty(_, name) {
      if (isItem(name)) storage.removeItem(name);
      return true;
    },
    ownKeys: () => Array.from({ length: storage.length }, (_, i) => storage.key(i) as string),
    getOwnPropertyDescriptor(_, name) {
      const value = isItem(name) ? storage.getItem(name) : null;
      return value === null ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
}

const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
const textsOf = (value: Json): Items => Object.fromEntries(Object.entries(value ?? {}).filter(isText));

export const memoryStorage = (): Storage => shown(new MemoryStorage(() => {}));

/** A storage that is kept with the state, under its reserved key. */
export function keptStorage(state: AppState, initial: Json): Storage {
  const storage = new MemoryStorage(() => state.send(STORAGE_KEY, () => storage.items()));
  const area = shown(storage);
  storage.replace(textsOf(initial));
  state.onReserved(STORAGE_KEY, (value) => {
    // What another view changed; as between two tabs.
    for (const change of storage.replace(textsOf(value))) {
      const event = new StorageEvent('storage', { ...change, url: document.URL });
      // Only the browser's own storage is taken by the constructor.
      Object.defineProperty(event, 'storageArea', { value: area });
      window.dispatchEvent(event);
    }
  });
  return area;
}

export function installStorage(state: AppState, initial: Json): void {
  Object.defineProperty(window, 'localStorage', { value: keptStorage(state, initial), configurable: true });
  Object.defineProperty(window, 'sessionStorage', { value: memoryStorage(), configurable: true });
}
