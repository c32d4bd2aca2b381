/** The private words between page, outer frame and SDK: everything of type `applet:*`. No host ever sees them. */

/** The SDK's name in stack traces. */
export const SDK_FILE = 'applet-sdk.js';

export interface Theme {
  dark: boolean;
  /** CSS custom properties by name. */
  variables: Record<string, string>;
}

/** What the SDK is started with. `key` proves to the outer frame that a hello comes from the SDK, not from the applet. */
export interface SdkConfig {
  key: string;
  js: string;
  css: string;
  theme: Theme;
}

/**
 * SDK → outer frame → page: a document's first and last word. The page answers the first with `Handover` and its ports.
 * After the last, a reload brings another hello; a navigation, which is blocked, brings none.
 */
export interface Greeting {
  type: 'applet:hello' | 'applet:leaving';
  key?: string;
}

/** Page → outer frame, with the ports [SDK, relay]; outer frame → SDK, with the SDK's port. */
export interface Handover {
  type: 'applet:port';
}

export interface Size {
  type: 'applet:size';
  height: number;
}

/** The applet's code failed before it had started. `where` is `applet.js:3:7` or empty. */
export interface StartFailed {
  type: 'applet:failed';
  where: string;
  message: string;
  stack: string;
}

/** The content policy stopped a load. */
export interface Blocked {
  type: 'applet:blocked';
  url: string;
  directive: string;
}

/** A link was clicked that an applet's frame cannot follow. */
export interface LinkClicked {
  type: 'applet:link';
  url: string;
}

/** Console lines that came too fast to be carried. */
export interface ConsoleDropped {
  type: 'applet:dropped';
  count: number;
}

export interface ThemeChanged {
  type: 'applet:theme';
  theme: Theme;
}

export type FromSdk = Size | StartFailed | Blocked | LinkClicked | ConsoleDropped;

const FIELDS: Record<FromSdk['type'], Record<string, 'string' | 'number'>> = {
  'applet:size': { height: 'number' },
  'applet:failed': { where: 'string', message: 'string', stack: 'string' },
  'applet:blocked': { url: 'string', directive: 'string' },
  'applet:link': { url: 'string' },
  'applet:dropped': { count: 'number' },
};

/** The SDK runs in the applet's own realm, where the applet can make it say anything. */
export function isFromSdk(message: Record<string, unknown>): message is FromSdk & Record<string, unknown> {
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) return false;
  return Object.entries(FIELDS[type as FromSdk['type']]).every(([name, kind]) => typeof message[name] === kind);
}
