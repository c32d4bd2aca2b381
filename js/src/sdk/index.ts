/** The SDK: runs first in an applet's document, makes `window.applet` (= `window.yaar`), then runs the applet's `js`. */

import type { SdkConfig, ToSdk } from '../frame/messages.js';
import { agentLoader, installEventSource } from './agent.js';
import { installApi } from './api.js';
import { App } from './app.js';
import { Calls } from './calls.js';
import { ConsoleLog } from './console.js';
import { Errors } from './errors.js';
import { Fetch, isStream } from './fetch.js';
import { Files } from './files.js';
import { Lifecycle } from './lifecycle.js';
import { takeLinks } from './links.js';
import { installWorkers, Modules } from './modules.js';
import { OwnFiles } from './own.js';
import { Port } from './port.js';
import { isRequest, isToSdk } from './requests.js';
import { run } from './run.js';
import { reportSize } from './size.js';
import { Snapshots } from './snapshot.js';
import { Sources } from './sources.js';
import { Standalone } from './standalone.js';
import { AppState, STORAGE_KEY } from './state.js';
import { installStorage } from './storage.js';
import { StreamedHtml } from './streaming.js';
import { installStyles } from './theme.js';

/** The parameter of the function that the document wraps around this script. */
declare const __appletConfig: SdkConfig;

/** Whether this SDK is for exported files. */
declare const __EXPORT__: boolean;

const config = __appletConfig;
const standalone = __EXPORT__ && config.standalone ? new Standalone({ ...config, standalone: config.standalone }, take) : null;
const initial = standalone?.state ?? config.state ?? {};
// The text holds the key, which the applet must not read.
document.currentScript?.remove();

const port = new Port();
const log = new ConsoleLog(port);
log.capture();

const state = new AppState(port, initial);
const calls = new Calls(port);
const agent = agentLoader(calls.call);
const own = new OwnFiles(config.files);
const files = new Files(calls.call, own);
const sources = new Sources(files, own);
const lifecycle = new Lifecycle();
const streamed = new StreamedHtml();
const modules = new Modules(own, config.modules, config.lexer);
const errors = new Errors(port, log, (element) => sources.isOurs(element), (file) => modules.nameOf(file));
errors.watch();

const snapshots = new Snapshots((message) => port.send(message));
const app = new App(port, snapshots, () => state.flush());
const setTheme = installStyles(config.css, Boolean(config.fills ?? config.standalone));
setTheme(config.theme);
installStorage(state, initial[STORAGE_KEY]);
new Fetch(files, own, state, agent).install();
installEventSource(agent, isStream);
modules.install();
installWorkers(modules, own);
installApi(app, state, files, agent, lifecycle, config.slug ?? '');

// WebRTC is the one way out that no content policy closes.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) {
  Object.defineProperty(window, name, { value: undefined });
}

function receive(message: ToSdk): void {
  switch (message.type) {
    case 'applet:theme':
      return setTheme(message.theme);
    case 'applet:reply':
      return calls.settle(message);
    case 'applet:state':
      return state.receive(message);
    case 'applet:file-changed':
      return files.notice(message);
    case 'applet:html':
      return streamed.write(message.html);
    case 'applet:visible':
      return lifecycle.show(message.visible);
  }
}

let warned = false;
function take(message: unknown): void {
  if (isRequest(message)) return app.handle(message);
  if (isToSdk(message)) return receive(message);
  if (!warned) console.warn('A message of an unknown shape came from the page and was ignored.', message);
  warned = true;
}

if (standalone) {
  port.attach(standalone);
  standalone.followTheme();
} else {
  port.connect(config.key, take);
}

function leave(): void {
  lifecycle.end();
  state.flush();
  port.leave();
}

/** Twice: a `document.write` in the applet's script takes away every listener. */
function listen(): void {
  port.listen();
  lifecycle.listen();
  window.addEventListener('pagehide', leave);
}

listen();
if (!config.streaming) sources.watch();

document.addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective, disposition }) => {
  // A file that the applet does not have is no load from elsewhere; the log has it.
  if (disposition === 'enforce' && !blockedURI.startsWith('applet')) port.send({ type: 'applet:blocked', url: blockedURI, directive: effectiveDirective });
});

function runAll(): void {
  sources.end();
  // As the author knows it: a file of the applet's folder, or the widget's trait.
  const name = config.slug ? 'script.js' : 'applet.js';
  errors.jsRuns(name);
  // Those of the HTML that nobody has put in before.
  for (const script of document.querySelectorAll('script[src]')) {
    const path = sources.ownScript(script);
    if (path !== null) run(own.text(path), modules, path, `applet/${path}`);
  }
  if (config.js) run(config.js, modules, 'script.js', name);
}

document.addEventListener('DOMContentLoaded', () => {
  takeLinks(port);
  if (!config.streaming) runAll();
  listen();
  if (!standalone) reportSize(port);
  snapshots.listen();
});
