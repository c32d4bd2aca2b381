/** Owns the cleaning of manifests: applets are not trusted to send what the types promise. */

import type { AppManifest, CommandDescriptor, StateDescriptor } from '../protocol.gen.js';
import { isJsonObject } from './messages.js';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const isSchema = (value: unknown): value is Fields | boolean => isObject(value) || typeof value === 'boolean';
const isReplay = (value: unknown): value is 'always' | 'last' | 'never' => value === 'always' || value === 'last' || value === 'never';

function each<T>(value: unknown, clean: (entry: Fields) => T): Record<string, T> {
  if (!isObject(value)) return {};
  // fromEntries defines properties, where an assignment to `__proto__` would not.
  return Object.fromEntries(
    Object.entries(value)
      .filter((entry): entry is [string, Fields] => isObject(entry[1]))
      .map(([name, entry]) => [name, clean(entry)]),
  );
}

const cleanState = ({ description, schema, snapshot }: Fields): StateDescriptor => ({
  description: text(description),
  ...(isSchema(schema) ? { schema } : {}),
  ...(snapshot === true ? { snapshot } : {}),
});

const cleanCommand = ({ description, params, returns, replay }: Fields): CommandDescriptor => ({
  description: text(description),
  ...(isSchema(params) ? { params } : {}),
  ...(isSchema(returns) ? { returns } : {}),
  ...(isReplay(replay) ? { replay } : {}),
});

/** What of `value` fits an AppManifest, or null when nothing does. */
export function cleanManifest(value: unknown): AppManifest | null {
  if (!isObject(value)) return null;
  if (!isJsonObject(value)) {
    console.warn('jupyter_applets: a manifest that no JSON can say was ignored.');
    return null;
  }
  const { appId, name, state, commands, replay } = value;
  return {
    appId: text(appId),
    name: text(name),
    state: each(state, cleanState),
    commands: each(commands, cleanCommand),
    ...(isReplay(replay) ? { replay } : {}),
  };
}
