/** The SDK: runs first in an applet's document, makes `window.applet` (= `window.yaar`), then runs the applet's `js`. */

import type { SdkConfig } from '../frame/messages.js';
import { App } from './app.js';
import { ConsoleLog } from './console.js';
import { Errors } from './errors.js';
import { takeLinks } from './links.js';
import { Port } from './port.js';
import { isRequest, isThemeChange } from './requests.js';
import { run } from './run.js';
import { reportSize } from './size.js';
import { Snapshots } from './snapshot.js';
import { installStorage } from './storage.js';
import { installStyles } from './theme.js';

/** The parameter of the function that the document wraps around this script. */
declare const __appletConfig: SdkConfig;

const { key, js, css, theme } = __appletConfig;
// The text holds the key, which the applet must not read.
document.currentScript?.remove();

const port = new Port();
const log = new ConsoleLog(port);
log.capture();
const errors = new Errors(port, log);
errors.watch();

const snapshots = new Snapshots((message) => port.send(message));
const app = new App(port, snapshots);
const setTheme = installStyles(css);
setTheme(theme);
installStorage();

// WebRTC is the one way out that no content policy closes.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) {
  Object.defineProperty(window, name, { value: undefined });
}

const api = Object.freeze({
  app: Object.freeze({
    register: app.register.bind(app),
    sendInteraction: app.sendInteraction.bind(app),
  }),
});
// Configurable, because an applet may have a top-level `const applet` of its own.
for (const name of ['applet', 'yaar']) Object.defineProperty(window, name, { value: api, configurable: true });

let warned = false;
port.connect(key, (message) => {
  if (isRequest(message)) return app.handle(message);
  if (isThemeChange(message)) return setTheme(message.theme);
  if (!warned) console.warn('A message of an unknown shape came from the page and was ignored.', message);
  warned = true;
});

document.addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective, disposition }) => {
  if (disposition === 'enforce') port.send({ type: 'applet:blocked', url: blockedURI, directive: effectiveDirective });
});

document.addEventListener('DOMContentLoaded', () => {
  takeLinks(port);
  errors.jsRuns();
  if (js) run(js);
  port.listen();
  reportSize(port);
  snapshots.listen();
});
