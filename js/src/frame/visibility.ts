/** Owns whether a view's frame can be seen where it stands in the notebook. */

export class Visibility {
  isVisible = false;
  readonly #observer: IntersectionObserver | null;

  constructor(element: Element, changed: () => void) {
    this.#observer =
      typeof IntersectionObserver === 'undefined'
        ? null
        : new IntersectionObserver((entries) => {
            this.isVisible = entries.at(-1)?.isIntersecting ?? false;
            changed();
          });
    this.#observer?.observe(element);
  }

  dispose(): void {
    this.#observer?.disconnect();
  }
}
