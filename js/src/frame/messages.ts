/** The private words between page, outer frame and SDK: everything of type `applet:*`. No host ever sees them. */

import type { AppletFile, Json } from '../protocol.gen.js';

/** The SDK's name in stack traces. */
export const SDK_FILE = 'applet-sdk.js';

export interface Theme {
  dark: boolean;
  /** CSS custom properties by name. */
  variables: Record<string, string>;
}

/**
 * What the SDK is started with. `key` proves to the outer frame that a hello comes from the SDK, not from the applet.
 * All but the first four may be absent. An exported file has no page: `standalone` is what a host would have kept.
 */
export interface SdkConfig {
  key: string;
  js: string;
  css: string;
  theme: Theme;
  /** The window's state, with the applet's localStorage under its reserved key. */
  state?: Record<string, Json>;
  slug?: string;
  /** As in `Content`. */
  modules?: Record<string, string>;
  files?: Record<string, AppletFile>;
  /** The text of the module lexer, when a module needs it. */
  lexer?: string;
  /** The frame's height is given, and not that of the content: `height: 100%` means it. */
  fills?: boolean;
  /** The HTML comes in pieces, and no script is to run. */
  streaming?: boolean;
  standalone?: { snapshot: Record<string, Json> | null; commands: { command: string; params?: Json }[] };
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

/** The applet changed its state: these keys. */
export interface StateSet {
  type: 'applet:set-state';
  data: Record<string, Json>;
}

/** The applet has taken the page's update of this number. */
export interface StateTaken {
  type: 'applet:state-seen';
  rev: number;
}

/** Something that only the page can do. Answered by one `Reply` of the same id. */
export interface SdkCall {
  type: 'applet:call';
  id: number;
  method: 'readFile' | 'writeFile' | 'listFiles' | 'subscribeFile' | 'unsubscribeFile' | 'agent';
  /**
   * readFile, listFiles, (un)subscribeFile: `{path}`; writeFile: `{path, content: string | ArrayBuffer, ifMatch?}`;
   * agent: `{port: MessagePort}`, by which everything about the agent is said (agent/words.ts).
   */
  args: Record<string, unknown>;
}

/**
 * Page → SDK. `value` is `{blob: Blob, version}` for readFile, `{version}` for writeFile,
 * `{files}` for listFiles, the text of the SDK's other half for agent, null for the rest.
 */
export interface Reply {
  type: 'applet:reply';
  id: number;
  value?: unknown;
  error?: string;
  code?: string;
}

export interface ThemeChanged {
  type: 'applet:theme';
  theme: Theme;
}

/** Page → SDK: these keys were pushed, or changed by another view. */
export interface StatePushed {
  type: 'applet:state';
  data: Record<string, Json>;
  rev: number;
}

/** Page → SDK: a file that this document subscribed to has changed. */
export interface FileNotice {
  type: 'applet:file-changed';
  path: string;
  event: 'created' | 'modified' | 'deleted';
}

/** Page → SDK: the next piece of a content that is streaming. */
export interface HtmlPiece {
  type: 'applet:html';
  html: string;
}

/** Page → SDK: whether the frame can be seen where it stands in the notebook. */
export interface VisibilityChanged {
  type: 'applet:visible';
  visible: boolean;
}

export type FromSdk = Size | StartFailed | Blocked | LinkClicked | ConsoleDropped | StateSet | StateTaken | SdkCall;
export type ToSdk = ThemeChanged | Reply | StatePushed | FileNotice | HtmlPiece | VisibilityChanged;

const FIELDS: Record<FromSdk['type'], Record<string, 'string' | 'number' | 'object' | 'json'>> = {
  'applet:size': { height: 'number' },
  'applet:failed': { where: 'string', message: 'string', stack: 'string' },
  'applet:blocked': { url: 'string', directive: 'string' },
  'applet:link': { url: 'string' },
  'applet:dropped': { count: 'number' },
  'applet:set-state': { data: 'json' },
  'applet:state-seen': { rev: 'number' },
  'applet:call': { id: 'number', method: 'string', args: 'object' },
};

/** A port carries more than JSON does: a BigInt, a circle. Kept, it would stop every message that it is to go out with. */
export function isJsonObject(value: unknown): value is Record<string, Json> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

const isOf = (value: unknown, kind: string): boolean =>
  kind === 'json' ? isJsonObject(value) : typeof value === kind && value !== null && !Array.isArray(value);

/** The SDK runs in the applet's own realm, where the applet can make it say anything. */
export function isFromSdk(message: Record<string, unknown>): message is FromSdk & Record<string, unknown> {
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) return false;
  return Object.entries(FIELDS[type as FromSdk['type']]).every(([name, kind]) => isOf(message[name], kind));
}
