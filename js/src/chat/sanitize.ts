/**
 * Owns what of others' HTML gets into the notebook's page: text with its structure, links that open elsewhere, images that
 * are at hand. Nothing that runs, that loads from somewhere, or that looks like a part of the page. All HTML comes through here.
 */

import createPurifier, { type Config, type DOMPurify } from 'dompurify';

const TEXT = ['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code', 'em', 'strong', 's', 'del', 'a', 'img'];
const TABLE = ['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'];
const MORE = ['div', 'span', 'b', 'i', 'u', 'sub', 'sup', 'small', 'mark', 'kbd', 'samp', 'var', 'dl', 'dt', 'dd', 'abbr', 'q', 'details', 'summary', 'figure', 'figcaption'];

/** Only addresses that are whole: a relative one would act on the Jupyter server. */
const LINK = /^(?:https?:\/\/|mailto:)/i;
/** An image that needs no request. An SVG among them could be a page of its own. */
export const IMAGE_URL = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;
const OUR_CLASS = /^(?:language-[\w+#.-]{1,40}|hljs-[\w-]{1,40}|language_|function_|class_|inherited__|constant_)$/;

const STRICT: Config = {
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOW_UNKNOWN_PROTOCOLS: false,
  ALLOW_SELF_CLOSE_IN_ATTR: false,
  ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
  // As a fragment: text that is parsed a second time may become something else.
  RETURN_DOM_FRAGMENT: true,
};

const MARKDOWN: Config = {
  ...STRICT,
  ALLOWED_TAGS: [...TEXT, 'span', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ALLOWED_ATTR: ['href', 'title', 'src', 'alt', 'class', 'start', 'align'],
};

const OUTPUT: Config = {
  ...STRICT,
  ALLOWED_TAGS: [...TEXT, ...TABLE, ...MORE],
  ALLOWED_ATTR: ['href', 'title', 'src', 'alt', 'start', 'align', 'colspan', 'rowspan', 'scope', 'span', 'open', 'reversed', 'value'],
};

let purifier: DOMPurify | undefined;

function purify(): DOMPurify {
  if (purifier) return purifier;
  // One of our own: Lab's is another's, with hooks of its own.
  purifier = createPurifier(window);
  purifier.addHook('uponSanitizeAttribute', (_element, attribute) => {
    const { attrName, attrValue } = attribute;
    if (attrName === 'href') attribute.keepAttr = LINK.test(attrValue.trim());
    else if (attrName === 'src') attribute.keepAttr = IMAGE_URL.test(attrValue);
    else if (attrName === 'class') attribute.keepAttr = attrValue.split(/\s+/).every((name) => OUR_CLASS.test(name));
  });
  purifier.addHook('afterSanitizeAttributes', (element) => {
    if (element.nodeName === 'IMG' && !element.hasAttribute('src')) element.remove();
    if (element.nodeName !== 'A' || !element.hasAttribute('href')) return;
    element.setAttribute('target', '_blank');
    element.setAttribute('rel', 'noopener noreferrer');
  });
  return purifier;
}

/** HTML that our markdown made. */
export const sanitizeMarkdown = (html: string): DocumentFragment => purify().sanitize(html, MARKDOWN) as unknown as DocumentFragment;

/** HTML that somebody else made. */
export const sanitizeOutput = (html: string): DocumentFragment => purify().sanitize(html, OUTPUT) as unknown as DocumentFragment;
