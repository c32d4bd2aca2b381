/** Owns what may be said when the agent is called: checked where the applet calls, and again by the page, to which an applet may lie. */

import type { InvokeOptions } from '../protocol.gen.js';

type Check = [is: (value: unknown) => boolean, must: string];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const BOOLEAN: Check = [(value) => typeof value === 'boolean', 'true or false'];
const FUNCTION: Check = [(value) => typeof value === 'function', 'a function'];

/** What goes to the host. */
const SENT: Record<keyof InvokeOptions, Check> = {
  session: [isText, "'active', 'background', 'new' or the id of a session"],
  showInChat: BOOLEAN,
  waitForResult: BOOLEAN,
  background: BOOLEAN,
  timeout: [(value) => typeof value === 'number' && value > 0 && Number.isFinite(value), 'a positive number of milliseconds'],
  expectState: [(value) => Array.isArray(value) && value.every(isText), 'a list of keys of the state'],
};

/** What stays with the applet, and the image, which is no option on the wire. */
const KEPT: Record<string, Check> = {
  onDelta: FUNCTION,
  onStatus: FUNCTION,
  signal: [(value) => typeof AbortSignal === 'function' && value instanceof AbortSignal, "an AbortController's signal"],
  imageData: [(value) => typeof value === 'string' && /^data:image\//i.test(value), 'a data URL of an image'],
};

const ALL: Record<string, Check> = { ...SENT, ...KEPT };

export function checkPrompt(prompt: unknown): asserts prompt is string {
  if (typeof prompt !== 'string' || !prompt.trim()) throw new TypeError('invokeAgent: the prompt must be a text that is not empty.');
}

/** The options that are set, if all of them are right. */
export function checkOptions(options: unknown): Record<string, unknown> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw new TypeError('invokeAgent: the options must be an object.');
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
  for (const [name, value] of given) {
    const check = Object.hasOwn(ALL, name) ? ALL[name] : undefined;
    if (!check) throw new TypeError(`invokeAgent: there is no option '${name}'. There are ${Object.keys(ALL).join(', ')}.`);
    if (!check[0](value)) throw new TypeError(`invokeAgent: ${name} must be ${check[1]}.`);
  }
  return Object.fromEntries(given);
}

/** Those that go to the host. */
export const sentOptions = (options: Record<string, unknown>): InvokeOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(SENT, name))) as InvokeOptions;
