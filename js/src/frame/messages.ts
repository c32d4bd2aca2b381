/** The private words between page, outer frame and SDK: everything of type `applet:*`. No host ever sees them. */

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

/** SDK → outer frame → page, once per document; the page answers with `Handover` and its ports. */
export interface Greeting {
  type: 'applet:hello';
  key?: string;
}

/** Page → outer frame, with the ports [SDK, relay]; outer frame → SDK, with the SDK's port. */
export interface Handover {
  type: 'applet:port';
}

/** The document's last word. A reload brings another hello; a navigation, which is blocked, brings none. */
export interface Leaving {
  type: 'applet:leaving';
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

export type FromSdk = Leaving | Size | StartFailed | Blocked | LinkClicked | ConsoleDropped;
