/** Owns the height the page is told: that of the content, so that the output grows and shrinks with it. */

import type { Port } from './port.js';

/** What content gets that is as tall as its frame, whatever that is; and what a frame starts with. */
export const FILL_HEIGHT = 400;

/** No content is trusted to grow without end. */
const MAX_HEIGHT = 10_000;

const contentHeight = (): number => Math.ceil(document.documentElement.getBoundingClientRect().height);

export function reportSize(port: Port): void {
  let reported = 0;
  let width = innerWidth;
  let follows = false;

  const report = (height: number): void => {
    if (height === reported || !innerWidth) return;
    reported = height;
    port.send({ type: 'applet:size', height });
  };
  const measure = (): void => {
    if (!follows) report(Math.min(contentHeight(), MAX_HEIGHT));
  };
  const observer = new ResizeObserver(measure);
  observer.observe(document.documentElement);
  measure();

  // Nothing but the frame's height has changed. Content that changed with it (100vh and the like) would chase it for ever.
  window.addEventListener('resize', () => {
    const sameWidth = innerWidth === width;
    width = innerWidth;
    if (sameWidth && !follows && innerHeight === reported && contentHeight() !== reported) {
      follows = true;
      report(FILL_HEIGHT);
    }
  });
}
