/** Owns the `src`s of the static HTML that are plain paths: a file of the applet, or else of the workspace, as a blob URL. */

import type { Files } from './files.js';
import { messageOf } from './json.js';
import { type OwnFiles, isPlainPath } from './own.js';

const SELECTOR = ':is(img,audio,video,source,track,input[type=image])[src],link[rel~=stylesheet][href]';

const attributeOf = (element: Element): string => (element.localName === 'link' ? 'href' : 'src');

export class Sources {
  readonly #taken = new WeakSet<Element>();
  readonly #observer = new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) if (node instanceof Element) this.#takeAll(node);
  });

  constructor(
    private readonly files: Files,
    private readonly own: OwnFiles,
  ) {}

  /** While the HTML is parsed, so that nothing waits for the end of it. */
  watch(): void {
    this.#observer.observe(document, { subtree: true, childList: true });
  }

  /** The HTML is there whole. What code adds later names its files by `applet.files.url`. */
  end(): void {
    this.#observer.disconnect();
    this.#takeAll(document.documentElement);
  }

  /** The browser cannot load it, and need not: we do. */
  isOurs(element: Element): boolean {
    return this.#taken.has(element) || this.#pathOf(element) !== null || this.ownScript(element) !== null;
  }

  /** The path of the applet's file that a script element names. */
  ownScript(element: Element): string | null {
    return element.localName === 'script' ? this.own.find(element.getAttribute('src') ?? '') : null;
  }

  #pathOf(element: Element): string | null {
    const path = element.matches(SELECTOR) ? (element.getAttribute(attributeOf(element)) ?? '').trim() : '';
    return isPlainPath(path) || path.startsWith('applet:') ? path : null;
  }

  #takeAll(root: Element): void {
    for (const element of [root, ...root.querySelectorAll(SELECTOR)]) {
      const path = this.#pathOf(element);
      if (path === null || this.#taken.has(element)) continue;
      this.#taken.add(element);
      void this.#load(element, path);
    }
  }

  async #load(element: Element, path: string): Promise<void> {
    try {
      const own = this.own.find(path);
      element.setAttribute(attributeOf(element), own === null ? await this.files.url(path) : this.own.url(own));
      this.#taken.delete(element);
      // A media element has given up on its sources by now.
      if (element.localName === 'source' && element.parentElement instanceof HTMLMediaElement) element.parentElement.load();
    } catch (error) {
      console.error(`Could not load <${element.localName}> ${path}: ${messageOf(error)}`);
    }
  }
}
