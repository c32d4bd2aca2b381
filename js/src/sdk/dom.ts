/** Owns what of the applet's document is told to those who ask for it with a selector. */

import type { DomRequest, Json } from '../protocol.gen.js';

const MAX_ELEMENTS = 200;
const MAX_TEXT = 2000;
const MAX_ATTRIBUTE = 200;
const ATTRIBUTE = /^(?:name|type|href|src|data-.+|aria-.+)$/;

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

// A password is nobody's business but its owner's.
const isField = (element: Element): element is Field => element.matches('input:not([type=password]),textarea,select');
const isChecked = (element: Element): element is HTMLInputElement => element.matches('input[type=checkbox],input[type=radio]');
const visibleText = (element: Element): string => (element instanceof HTMLElement ? element.innerText : (element.textContent ?? '')).trim();

function describe(element: Element): Json {
  const attributes = [...element.attributes].filter(({ name }) => ATTRIBUTE.test(name)).map(({ name, value }) => [name, value.slice(0, MAX_ATTRIBUTE)]);
  return {
    tag: element.localName,
    ...(element.id ? { id: element.id } : {}),
    ...(element.classList.length ? { class: element.classList.value } : {}),
    text: visibleText(element).slice(0, MAX_TEXT),
    ...(isField(element) ? { value: element.value.slice(0, MAX_TEXT) } : {}),
    ...(isChecked(element) ? { checked: element.checked } : {}),
    ...(attributes.length ? { attributes: Object.fromEntries(attributes) } : {}),
  };
}

export function readDom({ selector, format = 'json' }: DomRequest): Json {
  let found: Element[];
  try {
    found = [...document.querySelectorAll(selector)].slice(0, MAX_ELEMENTS);
  } catch {
    throw new Error(`'${selector}' is no CSS selector that can be read.`);
  }
  if (format === 'json') return found.map(describe);
  return found.map((element) => (isField(element) ? element.value : visibleText(element))).join('\n');
}
