/** Owns link clicks and form submits: by default they would replace the applet's document, which would destroy it. */

import type { Port } from './port.js';

/** Runs last, on the window: what the applet itself took care of is left alone. */
export function takeLinks(port: Port): void {
  window.addEventListener('click', (event) => {
    if (event.defaultPrevented) return;
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement || node instanceof HTMLAreaElement);
    const href = link?.getAttribute('href');
    if (link === undefined || href === undefined || href === null) return;
    if (href.startsWith('#')) {
      event.preventDefault();
      scrollToAnchor(href.slice(1));
    } else if (!/^(?:javascript|blob|data):/i.test(href.trim())) {
      event.preventDefault();
      if (/^https?:/i.test(link.href)) port.send({ type: 'applet:link', url: link.href });
    }
  });

  window.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    const method = event.submitter?.getAttribute('formmethod') ?? form.getAttribute('method');
    if (method?.toLowerCase() !== 'dialog') event.preventDefault();
  });
}

function scrollToAnchor(fragment: string): void {
  let name = fragment;
  try {
    name = decodeURIComponent(fragment);
  } catch {
    // Not an encoded name: taken as it is, as browsers do.
  }
  const target = document.getElementById(name) ?? document.getElementsByName(name)[0];
  if (target) target.scrollIntoView();
  else if (name === '' || name === 'top') window.scrollTo(0, 0);
}
