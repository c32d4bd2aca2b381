/** Owns what a view's applet may do: what its content declares, what people decided, and what holds in this view alone. */

import { shown } from './dom.js';
import type { Allowed } from './frame/frame.js';
import { listedNetwork, policyOrigin } from './frame/policy.js';
import type { Content, Json } from './protocol.gen.js';

export type Granted = Record<string, Json>;

/** What a listed origin opens, by the policy's name for it. Frames, for one, stay closed to everybody. */
const KINDS: Record<string, string> = {
  connect: 'data',
  font: 'fonts',
  img: 'images',
  media: 'media',
  script: 'scripts',
  style: 'styles',
};

/** What the policy stopped, in words; `origin` is null for what cannot be allowed ('inline', 'eval' and the like). */
export function blockedLoad(url: string, directive: string): { origin: string | null; kind: string } {
  const what = directive.replace(/-src.*$/, '');
  const kind = Object.hasOwn(KINDS, what) ? KINDS[what] : undefined;
  // No load has a star in its origin: whoever says so wants more than one.
  const origin = kind && !url.includes('*') ? policyOrigin(/^\w+:\/\/[^/?#]+/.exec(url)?.[0]) : null;
  return { origin, kind: kind ?? shown(what) };
}

export class Permissions {
  granted: Granted = {};
  /** Origins that were allowed, or refused, for as long as this content is shown here. */
  readonly once = new Set<string>();
  readonly denied = new Set<string>();

  /** What a document of `content` is allowed; `refused` is what it lists and no policy can express. */
  allowed({ permissions = {} }: Content): Allowed & { refused: string[] } {
    const { network, clipboard } = this.granted;
    const declared = listedNetwork(permissions);
    const added = network === false ? [] : [...listedNetwork({ network: network ?? [] }).origins, ...this.once];
    const origins = network === false ? [] : [...new Set([...declared.origins, ...added])];
    return { origins, refused: declared.refused, clipboard: clipboard !== false && Boolean(permissions['clipboard'] ?? clipboard) };
  }

  /** Another content: what was said of the one before does not hold for it. */
  forget(): void {
    this.once.clear();
    this.denied.clear();
  }
}

const WORDS: Record<string, (value: Json) => string> = {
  files: (value) => (value === 'write' ? 'read and change files' : 'read files'),
  network: (value) => `reach ${Array.isArray(value) ? value.map((origin) => shown(String(origin))).join(', ') : 'the network'}`,
  clipboard: () => 'use the clipboard',
  agent: () => 'speak with the agent',
  run: () => 'run without being asked about',
};

/** A decision as a sentence. */
export function describe(permission: string, value: Json): string {
  const words = (WORDS[permission] ?? (() => `use ${shown(permission)}`))(value);
  return `This applet may ${value === false ? 'not ' : ''}${words}.`;
}

/** What a content declares, one line each. */
export function declares({ permissions = {} }: Content): string[] {
  const wants = Object.entries(permissions).filter(([, value]) => value !== false && value !== null && !(Array.isArray(value) && !value.length));
  return wants.map(([permission, value]) => (WORDS[permission] ?? (() => `use ${shown(permission)}`))(value));
}
