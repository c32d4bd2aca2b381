/** Owns what `register` was given: its check, and the manifest made of it. */

import type { AppManifest, CommandDescriptor, Json, StateDescriptor } from '../protocol.gen.js';

export interface CommandContext {
  /** The command is not new: the applet reloaded, and is being brought back to where it was. */
  replayed: boolean;
  command: string;
  requestId: string;
}

export interface StateEntry extends StateDescriptor {
  handler(): unknown;
}

export interface CommandEntry extends CommandDescriptor {
  handler(params: Json, context: CommandContext): unknown;
}

export interface AppConfig {
  appId?: string;
  name?: string;
  state?: Record<string, StateEntry>;
  commands?: Record<string, CommandEntry>;
  replay?: AppManifest['replay'];
  hydrate?(state: Record<string, Json>): unknown;
}

export interface Registration {
  state: Record<string, StateEntry>;
  commands: Record<string, CommandEntry>;
  hydrate: ((state: Record<string, Json>) => unknown) | null;
  manifest: AppManifest;
}

const REPLAY = ['always', 'last', 'never', undefined, null];

function check(right: boolean, problem: string): asserts right {
  if (!right) throw new TypeError(`applet.app.register: ${problem}`);
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

function entries<T extends { handler: unknown }>(value: Record<string, T> | undefined, name: string): Record<string, T> {
  check(value === undefined || isObject(value), `${name} must be an object with an entry for each name.`);
  for (const [key, entry] of Object.entries(value ?? {})) {
    check(isObject(entry) && typeof entry.handler === 'function', `${name}.${key} needs a handler function.`);
  }
  return value ?? {};
}

/** The entries without their handlers, as data. */
function describe(value: Record<string, { handler: unknown }>, fields: string[]): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const known = fields.map((field) => [field, (entry as Record<string, unknown>)[field]]);
      return [key, { description: '', ...Object.fromEntries(known.filter(([, it]) => it !== undefined)) }];
    }),
  );
}

export function readConfig(config: AppConfig): Registration {
  check(isObject(config), 'give it an object with appId, name, state and commands.');
  const state = entries(config.state, 'state');
  const commands = entries(config.commands, 'commands');
  const { appId = '', name = appId, replay, hydrate } = config;
  check(typeof appId === 'string' && typeof name === 'string', 'appId and name must be strings.');
  check(hydrate === undefined || typeof hydrate === 'function', 'hydrate must be a function.');
  for (const value of [replay, ...Object.values(commands).map((command) => command.replay)]) {
    check(REPLAY.includes(value), `replay must be 'always', 'last' or 'never', not ${JSON.stringify(value)}.`);
  }
  const manifest = {
    appId,
    name,
    state: describe(state, ['description', 'schema', 'snapshot']),
    commands: describe(commands, ['description', 'params', 'returns', 'replay']),
    ...(replay ? { replay } : {}),
  };
  let text: string;
  try {
    text = JSON.stringify(manifest);
  } catch (error) {
    throw new TypeError(`applet.app.register: a description or schema cannot be sent as JSON (${error}).`);
  }
  // A copy made by JSON: what only structured clone would refuse (a function in a schema) must not stop the message.
  return { state, commands, hydrate: hydrate ? (values) => config.hydrate?.(values) : null, manifest: JSON.parse(text) };
}
