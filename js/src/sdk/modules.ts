/**
 * Owns the applet's modules: one import map from their names to blob URLs, made before any module runs. Names, not URLs, stand
 * in the modules, so that those may import each other in a circle. A module's place is `applet:/` and its path.
 */

import { isRewritten, isScript } from '../lexer/needed.js';
import { toBase64 } from './bytes.js';
import { mediaType } from './mime.js';
import { type OwnFiles, ROOT } from './own.js';
import { isRelative, type Parse, type Rewriting, resolveSpecifier, rewrite } from './rewrite.js';

/** The globals that rewritten code calls. */
const RESOLVE = '__appletResolve';
const META = '__appletMeta';

const isImportable = (path: string): boolean => isScript(path) || /\.(?:json|css)$/i.test(path);

export const placeOf = (path: string): string => new URL(ROOT + path.replace(/[%#?]/g, encodeURIComponent)).href;

interface Module {
  source: string;
  place: string;
}

export class Modules {
  readonly #parse: Parse | null;
  readonly #metas = new Map<string, object>();
  readonly #names = new Map<string, string>();
  /** What is imported and is not there, a sentence each. */
  readonly missing: string[] = [];
  /** For the document, where the import map takes the resolved names. */
  readonly #how: Rewriting = {
    specifier: (specifier, base, isStatic) => this.#named(specifier, base, isStatic),
    resolver: RESOLVE,
    meta: (base) => `${META}(${JSON.stringify(base)})`,
  };

  constructor(
    private readonly own: OwnFiles,
    private readonly named: Record<string, string> = {},
    lexer?: string,
  ) {
    this.#parse = lexer === undefined ? null : (0, eval)(lexer);
  }

  install(): void {
    const imports = this.#imports();
    if (Object.keys(imports).length) {
      const map = document.createElement('script');
      map.type = 'importmap';
      map.textContent = JSON.stringify({ imports });
      document.head.append(map);
      map.remove();
    }
    const globals = { [RESOLVE]: (specifier: unknown, base: string) => resolveSpecifier(String(specifier), base), [META]: (base: string) => this.#meta(base) };
    for (const [name, value] of Object.entries(globals)) Object.defineProperty(window, name, { value, configurable: true });
  }

  /** The code at `place`, as it can run in the document. */
  rewritten(source: string, place: string): string {
    return this.#parse && isRewritten(source) ? rewrite(this.#parse, source, place, this.#how) : source;
  }

  /** The file's name in stack traces: one that does not parse has not told it yet. */
  nameOf(url: string): string {
    return this.#names.get(url) ?? url;
  }

  /** All that a module worker imports, put into its URL: it has no import map, and takes no blob from a document like ours. */
  workerUrl(path: string): string {
    return this.#dataUrl({ source: this.own.text(path), place: placeOf(path) }, []);
  }

  #imports(): Record<string, string> {
    const paths = this.own.paths.filter(isImportable);
    const urls = new Map(paths.map((path) => [path, this.#blobUrl(path)]));
    const imports = Object.fromEntries(paths.map((path) => [placeOf(path), urls.get(path) as string]));
    for (const [name, value] of Object.entries(this.named)) {
      const path = value.startsWith(ROOT) ? this.own.find(value) : null;
      if (path !== null) imports[name] = urls.get(path) ?? this.#blobUrl(path);
      else if (value.startsWith(ROOT)) this.#miss(`The module '${name}' is to be ${value.slice(ROOT.length)}, which is not among the applet's files.`);
      else imports[name] = this.#moduleUrl(value, `modules/${name}`);
    }
    return imports;
  }

  #blobUrl(path: string): string {
    return isScript(path) ? this.#moduleUrl(this.own.text(path), path) : this.own.url(path);
  }

  #moduleUrl(source: string, path: string): string {
    const text = `${this.rewritten(source, placeOf(path))}\n//# sourceURL=applet/${path}`;
    const url = URL.createObjectURL(new Blob([text], { type: mediaType('.js') }));
    this.#names.set(url, `applet/${path}`);
    return url;
  }

  #named(specifier: string, base: string, isStatic: boolean): string {
    const place = resolveSpecifier(specifier, base);
    if (isStatic && isRelative(specifier) && this.own.find(place) === null) {
      this.#miss(`${base.slice(ROOT.length)} imports '${specifier}', which is not among the applet's files.`);
    }
    return place;
  }

  #miss(sentence: string): void {
    this.missing.push(sentence);
    console.error(sentence);
  }

  #meta(base: string): object {
    let meta = this.#metas.get(base);
    if (!meta) this.#metas.set(base, (meta = { url: base, resolve: (specifier: string) => resolveSpecifier(specifier, base) }));
    return meta;
  }

  #find(specifier: string, base: string): Module | null {
    const value = Object.hasOwn(this.named, specifier) ? (this.named[specifier] as string) : null;
    if (value !== null && !value.startsWith(ROOT)) return { source: value, place: placeOf(`modules/${specifier}`) };
    const path = this.own.find(value ?? resolveSpecifier(specifier, base));
    return path === null ? null : { source: this.own.text(path), place: placeOf(path) };
  }

  #dataUrl({ source, place }: Module, above: string[]): string {
    const way = [...above, place];
    if (above.includes(place)) throw new Error(`The modules of a worker cannot import each other in a circle: ${way.join(' → ')}.`);
    const how: Rewriting = {
      specifier: (specifier, base) => {
        const module = this.#find(specifier, base);
        return module && this.#dataUrl(module, way);
      },
      resolver: null,
      meta: (base) => `({url:${JSON.stringify(base)}})`,
    };
    const text = this.#parse ? rewrite(this.#parse, source, place, how) : source;
    return `data:${mediaType('.js')};base64,${toBase64(new TextEncoder().encode(text).buffer as ArrayBuffer)}`;
  }
}

/** `new Worker` takes the applet's own files: by `applet:/`, by `new URL('./w.js', import.meta.url)`, or by their path. */
export function installWorkers(modules: Modules, own: OwnFiles): void {
  const Browsers = window.Worker;
  const workerUrl = (reference: string, isModule: boolean): string => {
    const path = own.find(reference);
    if (path !== null) return isModule ? modules.workerUrl(path) : own.url(path);
    if (reference.startsWith(ROOT)) throw new TypeError(`new Worker: the applet has no file ${reference.slice(ROOT.length)}.`);
    return reference;
  };
  class AppletWorker extends Browsers {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(workerUrl(String(url), options?.type === 'module'), options);
    }
  }
  Object.defineProperty(AppletWorker, 'name', { value: 'Worker' });
  Object.defineProperty(window, 'Worker', { value: AppletWorker, configurable: true, writable: true });
}
