/**
 * Owns the applet's end and its visibility, by the seed's four rules: a callback that throws stops nothing, visibility is read
 * fresh, cleaning up twice is cleaning up once, and callbacks are not waited for.
 */

import { callAll, checkFunction } from './json.js';

type VisibilityCallback = (visible: boolean) => unknown;

export class Lifecycle {
  #cleanups: (() => unknown)[] = [];
  readonly #callbacks = new Set<VisibilityCallback>();
  /** Whether the page can show the frame where it stands; the document knows only of the tab. */
  #shown = true;
  #told = true;

  get visible(): boolean {
    return this.#shown && document.visibilityState === 'visible';
  }

  /** Again after the applet's script ran: `document.write` in it takes away every listener. */
  listen(): void {
    document.addEventListener('visibilitychange', this.#tell);
  }

  show(visible: boolean): void {
    this.#shown = visible;
    this.#tell();
  }

  onCleanup(callback: () => unknown): () => void {
    checkFunction(callback, 'applet.onCleanup');
    const own = (): unknown => callback();
    this.#cleanups.push(own);
    return () => {
      this.#cleanups = this.#cleanups.filter((one) => one !== own);
    };
  }

  onVisibilityChange(callback: VisibilityCallback): () => void {
    checkFunction(callback, 'applet.onVisibilityChange');
    if (!this.#callbacks.size) this.#told = this.visible;
    const own: VisibilityCallback = (visible) => callback(visible);
    this.#callbacks.add(own);
    return () => void this.#callbacks.delete(own);
  }

  /** The document goes away. */
  end(): void {
    const cleanups = this.#cleanups;
    this.#cleanups = [];
    callAll(cleanups);
  }

  readonly #tell = (): void => {
    const { visible } = this;
    if (visible === this.#told) return;
    this.#told = visible;
    callAll(this.#callbacks, visible);
  };
}
