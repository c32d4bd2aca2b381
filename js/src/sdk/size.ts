/** Owns the height the page is told: that of the content, so that the output grows and shrinks with it. */

import type { Port } from './port.js';

/** What a frame starts with, and what content gets that is as tall as its frame makes it. */
export const FILL_HEIGHT = 400;

/** No content is trusted to grow without end. */
export const MAX_HEIGHT = 10_000;

/** How often a frame that has no width yet looks whether it has one. */
const FIRST_LOOK = 50;

/** So many times in a row the content may change with nothing but the frame's height, before it is taken to follow it. */
const STRIKES = 3;

const contentHeight = (): number => Math.ceil(document.documentElement.getBoundingClientRect().height);

const isInTransition = (): boolean => document.getAnimations().some((animation) => animation instanceof CSSTransition);

/** Tells whether anything that could change the content's height happened since `reset`, apart from the frame's size. */
class Stillness {
  #moved = false;
  #width = 0;
  readonly #observer = new MutationObserver(() => (this.#moved = true));

  constructor() {
    // Images and stylesheets that arrive.
    window.addEventListener('load', () => (this.#moved = true), true);
  }

  reset(): void {
    this.#moved = false;
    this.#width = innerWidth;
    this.#observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  }

  /** Ends the watch: nobody pays for it when no answer is awaited. */
  end(): boolean {
    const moved = this.#moved || this.#observer.takeRecords().length > 0 || innerWidth !== this.#width || isInTransition();
    this.#observer.disconnect();
    return !moved;
  }
}

export function reportSize(port: Port): void {
  const stillness = new Stillness();
  let reported = -1;
  let measured = 0;
  let isAwaited = false;
  let strikes = 0;
  let follows = false;

  const report = (height: number): void => {
    if (height === reported) return;
    reported = height;
    isAwaited = true;
    stillness.reset();
    port.send({ type: 'applet:size', height });
  };

  /** Content that changes when the page has done as told (100vh and the like) would chase its frame for ever. */
  const checkChase = (height: number): void => {
    if (!isAwaited || innerHeight !== reported) return;
    isAwaited = false;
    strikes = stillness.end() && height !== measured ? strikes + 1 : 0;
    follows = strikes >= STRIKES;
  };

  const measure = (): void => {
    if (follows || !innerWidth) return;
    const height = contentHeight();
    checkChase(height);
    measured = height;
    report(follows ? FILL_HEIGHT : Math.min(height, MAX_HEIGHT));
  };

  new ResizeObserver(measure).observe(document.documentElement);
  window.addEventListener('resize', measure);

  // The page shows the frame when it knows the height, and a frame that is not shown gets no observer calls.
  const begin = (): void => {
    measure();
    if (reported < 0) setTimeout(begin, FIRST_LOOK);
  };
  begin();
}
