/**
 * Owns what of others' HTML gets into the notebook's page: text with its structure, links that open elsewhere, images that
 * are at hand. Nothing that runs, that loads from somewhere, or that looks like a part of the page. All HTML comes through here.
 *
 * DOMPurify takes out what browsers are known to run; then whatever is left must be on our own, much shorter list.
 */

import createPurifier, { type Config, type DOMPurify } from 'dompurify';

const TEXT = ['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code', 'em', 'strong', 's', 'del', 'a', 'img', 'span'];
const TABLE = ['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'];
const MORE = ['div', 'b', 'i', 'u', 'sub', 'sup', 'small', 'mark', 'kbd', 'samp', 'var', 'dl', 'dt', 'dd', 'abbr', 'q', 'details', 'summary', 'figure', 'figcaption'];
const ATTRIBUTES = ['href', 'title', 'src', 'alt', 'start', 'align'];

interface Allowed {
  tags: string[];
  attributes: string[];
}

/** HTML that our markdown made; that somebody else made. */
const MARKDOWN: Allowed = { tags: [...TEXT, ...TABLE], attributes: [...ATTRIBUTES, 'class'] };
const OUTPUT: Allowed = { tags: [...TEXT, ...TABLE, ...MORE], attributes: [...ATTRIBUTES, 'colspan', 'rowspan', 'scope', 'span', 'open', 'reversed', 'value'] };

const XHTML = 'http://www.w3.org/1999/xhtml';
/** Only addresses that are whole: a relative one would act on the Jupyter server. */
const LINK = /^(?:https?:\/\/|mailto:)/i;
/** An image that needs no request. An SVG in the page's own text could be more than an image. */
export const IMAGE_URL = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;
/** Those of the colours of code; `language_` and the like are what its library adds to them. */
const CLASSES = /^(?:(?:language-|hljs-)[\w+#.-]{1,40}|[a-z]{1,12}_{1,2})$/;

const RULES: Record<string, (value: string) => boolean> = {
  href: (value) => LINK.test(value),
  src: (value) => IMAGE_URL.test(value),
  class: (value) => value.split(' ').every((name) => CLASSES.test(name)),
};

function keepAllowed(root: DocumentFragment, { tags, attributes }: Allowed): DocumentFragment {
  for (const element of root.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      if (!attributes.includes(name) || !(RULES[name]?.(value) ?? true)) element.removeAttribute(name);
    }
    const isBare = element.localName === 'img' && !element.hasAttribute('src');
    if (element.namespaceURI !== XHTML || !tags.includes(element.localName) || isBare) element.remove();
    else if (element.localName === 'a' && element.hasAttribute('href')) {
      element.setAttribute('target', '_blank');
      element.setAttribute('rel', 'noopener noreferrer');
    }
  }
  return root;
}

let purifier: DOMPurify | undefined;

function sanitize(html: string, allowed: Allowed): DocumentFragment {
  // One of our own: Lab's is another's, with hooks of its own.
  purifier ??= createPurifier(window);
  const config: Config & { RETURN_DOM_FRAGMENT: true } = {
    ALLOWED_TAGS: allowed.tags,
    ALLOWED_ATTR: allowed.attributes,
    ALLOWED_NAMESPACES: [XHTML],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // Text that is parsed a second time may become something else.
    RETURN_DOM_FRAGMENT: true,
  };
  return keepAllowed(purifier.sanitize(html, config), allowed);
}

export const sanitizeMarkdown = (html: string): DocumentFragment => sanitize(html, MARKDOWN);
export const sanitizeOutput = (html: string): DocumentFragment => sanitize(html, OUTPUT);
