/** Owns `fetch` inside an applet: the seed's endpoints and the applet's own files are answered here, the rest is the browser's. */

import type { LoadAgent } from './agent.js';
import { fromBase64, textOrNull, toBase64 } from './bytes.js';
import { CallError } from './calls.js';
import type { Files } from './files.js';
import { messageOf } from './json.js';
import type { OwnFiles } from './own.js';
import type { AppState } from './state.js';

/** As a path, or after what an applet can take for its origin: the frame's is `null`, an exported file's is `file://`. */
const ENDPOINT = /^(?:null|file:\/\/|about:srcdoc)?\/?api\/applet\/(file|list|state)\/?(?:\?([^#]*))?(?:#.*)?$/;
const AGENT = /^(?:null|file:\/\/|about:srcdoc)?\/?api\/(?:(stream)|sessions|message|history)(?![^/?#])/;

export const isStream = (url: string): boolean => AGENT.exec(url)?.[1] !== undefined;

const STATUS: [codes: RegExp, status: number][] = [
  [/^(?:INVALID_ARGUMENTS|INVALID_MESSAGE)$/, 400],
  [/^(?:PATH_REFUSED|NOT_PERMITTED|PERMISSION_\w+|CONSENT_NEEDED|FORBIDDEN)$/, 403],
  [/^FILE_MISSING$/, 404],
  [/^METHOD_NOT_ALLOWED$/, 405],
  [/^VERSION_CONFLICT$/, 409],
  [/^(?:FILE_TOO_LARGE|TOO_LARGE)$/, 413],
  [/^NO_AGENT$/, 503],
];

interface Asked {
  method: string;
  path: string;
  body(): Promise<Record<string, unknown>>;
}

type Answer = Record<string, unknown>;
type Endpoint = Record<string, (asked: Asked) => Answer | Promise<Answer>>;

const wrong = (message: string, code = 'INVALID_ARGUMENTS'): CallError => new CallError(message, code);

export class Fetch {
  readonly #endpoints: Record<string, Endpoint>;

  constructor(
    private readonly files: Files,
    private readonly own: OwnFiles,
    private readonly state: AppState,
    private readonly agent: LoadAgent,
  ) {
    this.#endpoints = {
      file: { GET: (asked) => this.#read(asked), POST: (asked) => this.#write(asked) },
      list: { GET: async ({ path }) => ({ files: await this.files.list(path) }) },
      state: { GET: () => ({ state: this.state.current }), POST: (asked) => this.#setState(asked) },
    };
  }

  install(): void {
    const browsers = window.fetch.bind(window);
    const value = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => this.answer(input, init) ?? browsers(input, init);
    Object.defineProperty(window, 'fetch', { value, configurable: true, writable: true });
  }

  /** The answer, when it is ours to give. */
  answer(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> | null {
    const request = typeof input === 'object' && 'url' in input ? input : null;
    const url = request ? request.url : String(input);
    const method = (init.method ?? request?.method ?? 'GET').toUpperCase();
    const signal = init.signal ?? request?.signal;
    const [, name, search = ''] = ENDPOINT.exec(url) ?? [];
    if (name !== undefined) {
      const body = async (): Promise<Record<string, unknown>> => readBody(init.body === undefined && request ? request : new Response(init.body));
      const path = new URLSearchParams(search).get('path') ?? '';
      return abortable(this.#respond(name, { method, path, body }), signal);
    }
    if (AGENT.test(url)) return this.agent().then(({ fetch }) => fetch(input, init), failed);
    const file = this.own.find(url);
    if (file !== null) return abortable(Promise.resolve(new Response(this.own.blob(file))), signal);
    if (!url.startsWith('applet:')) return null;
    return Promise.resolve(new Response(`The applet has no file ${url}.`, { status: 404, statusText: 'Not Found' }));
  }

  async #respond(name: string, asked: Asked): Promise<Response> {
    try {
      const answer = this.#endpoints[name]?.[asked.method === 'HEAD' ? 'GET' : asked.method];
      if (!answer) throw wrong(`${asked.method} is not understood here.`, 'METHOD_NOT_ALLOWED');
      const body = await answer(asked);
      return json(asked.method === 'HEAD' ? null : body);
    } catch (error) {
      return failed(error);
    }
  }

  async #read({ path }: Asked): Promise<Answer> {
    const { bytes, version } = await this.files.load(path);
    const text = textOrNull(bytes);
    return text === null ? { content: toBase64(bytes), encoding: 'base64', version } : { content: text, encoding: 'utf-8', version };
  }

  async #write({ path, body }: Asked): Promise<Answer> {
    const { content, encoding = 'utf-8', ifMatch } = await body();
    if (typeof content !== 'string') throw wrong('The body needs a content that is text.');
    if (encoding !== 'utf-8' && encoding !== 'base64') throw wrong("The encoding must be 'utf-8' or 'base64'.");
    const { version } = await this.files.write(
      path,
      encoding === 'base64' ? decode(content) : content,
      typeof ifMatch === 'string' ? { ifMatch } : {},
    );
    return { ok: true, version };
  }

  async #setState({ body }: Asked): Promise<Answer> {
    const { data, state = data } = await body();
    this.state.set(state as Record<string, unknown>);
    return { ok: true };
  }
}

const json = (body: unknown, status = 200): Response =>
  new Response(body === null ? null : JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

function failed(error: unknown): Response {
  const code = error instanceof CallError ? error.code : error instanceof TypeError ? 'INVALID_ARGUMENTS' : 'INTERNAL_ERROR';
  return json({ error: messageOf(error), code }, STATUS.find(([codes]) => codes.test(code))?.[1] ?? 500);
}

async function readBody(from: Request | Response): Promise<Record<string, unknown>> {
  let body: unknown;
  try {
    body = JSON.parse(await from.text());
  } catch (error) {
    throw wrong(`The body is no JSON: ${messageOf(error)}`);
  }
  if (typeof body !== 'object' || body === null) throw wrong('The body must be a JSON object.');
  return body as Record<string, unknown>;
}

function decode(content: string): Uint8Array {
  try {
    return fromBase64(content);
  } catch {
    throw wrong('The content is no base64.');
  }
}

/** What was asked may still be done; nobody waits for it. */
function abortable(answer: Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject);
  });
}
