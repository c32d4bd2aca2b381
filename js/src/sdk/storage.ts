/** Owns `localStorage` and `sessionStorage` inside an applet: in memory, because an opaque origin has none. */

class MemoryStorage implements Storage {
  readonly #items = new Map<string, string>();
  [name: string]: unknown;

  get length(): number {
    return this.#items.size;
  }
  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.#items.get(String(key)) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#items.set(String(key), String(value));
  }
  removeItem(key: string): void {
    this.#items.delete(String(key));
  }
  clear(): void {
    this.#items.clear();
  }
}

/** A storage whose items are also properties, as the web's is. */
export function memoryStorage(): Storage {
  const storage = new MemoryStorage();
  const isItem = (name: string | symbol): name is string => typeof name === 'string' && !(name in storage);
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
    has: (_, name) => name in storage || (isItem(name) && storage.getItem(name) !== null),
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

export function installStorage(): void {
  for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(window, name, { value: memoryStorage(), configurable: true });
  }
}
