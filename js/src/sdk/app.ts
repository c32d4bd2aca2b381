/** Owns `applet.app`: the registration, and exactly one response to each request. */

import type { AppReady, DomRequest, Json, PortRequest, PortResponse } from '../protocol.gen.js';
import { readDom } from './dom.js';
import { jsonText, messageOf } from './json.js';
import type { Port } from './port.js';
import { type AppConfig, type Registration, readConfig } from './registration.js';
import type { Snapshots } from './snapshot.js';

class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** What is answered: the fields beside `type` and `requestId`. */
type Outcome = { value: Json } | { error: string; code: string };

/** Where the value stands in the response to each request; a hydrate has none. */
const FIELDS = {
  'yaar:app-manifest-request': 'manifest',
  'yaar:app-query-request': 'data',
  'yaar:app-command-request': 'result',
  'yaar:app-hydrate-request': null,
  'yaar:app-dom-request': 'data',
} as const;

/** `value` as JSON would carry it. Structured clone would keep what JSON changes (`toJSON`) and refuse what it drops. */
function jsonValue(value: unknown): Json {
  if (value === undefined || value === null) return null;
  try {
    return JSON.parse(jsonText(value, 'The result'));
  } catch (error) {
    throw new Refusal('RESULT_NOT_JSON', messageOf(error));
  }
}

/** The entry of that name; `other` are the names of the other kind, which are easily mistaken for it. */
function find<T>(entries: Record<string, T>, name: string, other: object, kind: 'state key' | 'command'): T {
  if (Object.hasOwn(entries, name)) return entries[name] as T;
  const [is, advice] = kind === 'command' ? ['state key', 'read it with app_query'] : ['command', 'run it with app_command'];
  const known = Object.keys(entries).slice(0, 40).join(', ') || 'none';
  const help = Object.hasOwn(other, name) ? `'${name}' is a ${is}: ${advice}` : `Known: ${known}`;
  throw new Refusal(`UNKNOWN_${kind.toUpperCase().replace(' ', '_')}`, `Unknown ${kind}: ${name}. ${help}.`);
}

export class App {
  #registration: Registration | null = null;

  constructor(
    private readonly port: Port,
    private readonly snapshots: Snapshots,
    /** Called right before an answer goes out. */
    private readonly answering: () => void,
  ) {}

  register(config: AppConfig): void {
    const registration = readConfig(config);
    if (this.#registration) console.warn('applet.app.register was called again: it replaces what was registered before.');
    this.#registration = registration;
    this.snapshots.watch(registration.state);
    const { manifest } = registration;
    this.port.send({
      type: 'yaar:app-ready',
      appId: manifest.appId ?? '',
      manifest,
      hydrates: registration.hydrate !== null,
    } satisfies AppReady);
  }

  sendInteraction(description: unknown): void {
    const content = typeof description === 'string' ? description : JSON.stringify(description);
    if (content === undefined) throw new TypeError('applet.app.sendInteraction: give it a string, or an object that JSON can hold.');
    this.port.send({ type: 'yaar:app-interaction', content });
  }

  handle(request: PortRequest): void {
    const changes = request.type === 'yaar:app-command-request' || request.type === 'yaar:app-hydrate-request';
    if (changes) this.snapshots.changeStarted();
    const finish = (outcome: Outcome): void => {
      this.#respond(request, outcome);
      if (changes) this.snapshots.changeSettled();
    };
    let value: unknown;
    let isLater: boolean;
    try {
      value = this.#perform(request);
      isLater = isThenable(value);
    } catch (error) {
      return finish(failure(error));
    }
    // Not awaited when there is nothing to wait for: a batch of plain commands is then answered as one batch.
    if (!isLater) return finish(success(value));
    Promise.resolve(value).then(success, failure).then(finish);
  }

  #perform(request: PortRequest): unknown {
    if (request.type === 'yaar:app-dom-request') return askDom(request);
    const registration = this.#registration;
    if (!registration) throw new Refusal('NOT_READY', 'The applet has not called applet.app.register yet.');
    const { state, commands, hydrate, manifest } = registration;
    switch (request.type) {
      case 'yaar:app-manifest-request':
        return manifest;
      case 'yaar:app-query-request':
        return find(state, request.stateKey, commands, 'state key').handler();
      case 'yaar:app-command-request': {
        const { requestId, command, params, replayed = false } = request;
        return find(commands, command, state, 'command').handler(params ?? {}, { replayed, command, requestId });
      }
      case 'yaar:app-hydrate-request':
        if (!hydrate) throw new Refusal('HANDLER_FAILED', 'The applet registered no hydrate function.');
        return Promise.resolve(hydrate(request.state)).then(() => null);
    }
  }

  #respond({ type, requestId }: PortRequest, outcome: Outcome): void {
    const field = FIELDS[type];
    const value = 'value' in outcome ? outcome.value : null;
    const rest = 'value' in outcome ? { error: null } : outcome;
    const response = { type: type.replace('request', 'response'), requestId, ...(field && { [field]: value }), ...rest };
    this.answering();
    this.port.send(response as PortResponse);
  }
}

/** A selector that cannot be read is the asker's mistake, not one for the applet's log. */
function askDom(request: DomRequest): Json {
  try {
    return readDom(request);
  } catch (error) {
    throw new Refusal('HANDLER_FAILED', messageOf(error));
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

function success(value: unknown): Outcome {
  try {
    return { value: jsonValue(value) };
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Outcome {
  try {
    if (error instanceof Refusal) return { error: error.message, code: error.code };
    console.error(error);
  } catch {
    // What was thrown cannot even be looked at; the request is answered all the same.
  }
  return { error: messageOf(error), code: 'HANDLER_FAILED' };
}
