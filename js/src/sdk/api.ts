/** Owns what the applet sees of the SDK: `window.applet` (= `window.yaar`), and the seed's functions as globals. */

import type { LoadAgent } from './agent.js';
import type { App } from './app.js';
import type { Files } from './files.js';
import type { Lifecycle } from './lifecycle.js';
import type { AppState } from './state.js';

export function installApi(app: App, state: AppState, files: Files, agent: LoadAgent, lifecycle: Lifecycle, slug: string): void {
  const functions = {
    setAppletState: state.set.bind(state),
    onStateUpdate: state.onUpdate.bind(state),
    readFile: files.read.bind(files),
    writeFile: files.write.bind(files),
    listFiles: files.list.bind(files),
    subscribeFile: files.subscribe.bind(files),
    invokeAgent: async (prompt: string, options?: object) => (await agent()).invoke(prompt, options),
  };
  const { readFile: read, writeFile: write, listFiles: list, subscribeFile: subscribe } = functions;
  const api = Object.freeze({
    app: Object.freeze({
      register: app.register.bind(app),
      sendInteraction: app.sendInteraction.bind(app),
    }),
    files: Object.freeze({ read, write, list, subscribe, url: files.url.bind(files) }),
    agent: Object.freeze({ invoke: functions.invokeAgent }),
    get state() {
      return state.current;
    },
    get visible() {
      return lifecycle.visible;
    },
    slug,
    onCleanup: lifecycle.onCleanup.bind(lifecycle),
    onVisibilityChange: lifecycle.onVisibilityChange.bind(lifecycle),
    ...functions,
  });
  // Configurable, because an applet may have a top-level `const applet` of its own; writable, because it may have a `var readFile`.
  for (const [name, value] of Object.entries({ applet: api, yaar: api, ...functions })) {
    Object.defineProperty(window, name, { value, configurable: true, writable: true });
  }
}
