/**
 * Owns what is said with one view's applet: requests to it, exactly one answer to each, and what it says by itself.
 * Host words in and out on one side, `yaar:*` on the other. It runs no clock for requests that an applet has: the host's decides.
 */

import type {
  Answer,
  AppManifest,
  AppProtocolRequest,
  ConsoleEntry,
  ConsoleLines,
  FromPage,
  Json,
  PortRequest,
} from '../protocol.gen.js';
import { cleanManifest } from './manifest.js';
import { type ConsoleDropped, type FromSdk, isFromSdk, isJsonObject } from './messages.js';
import type { Way } from './frame.js';

type Kind = Answer['kind'];
type Fields = Record<string, unknown>;

const KINDS: Kind[] = ['manifest', 'query', 'command', 'hydrate', 'dom'];

/** How long an applet that speaks for itself may take to give the manifest it did not send with its ready. */
const MANIFEST_WAIT = 1000;

/** How long a request about the document waits for one to start. */
const DOCUMENT_WAIT = 5000;

const RESPONSES = new Map<unknown, Kind>(KINDS.map((kind) => [`yaar:app-${kind}-response`, kind]));

const LEVELS = ['debug', 'log', 'info', 'warn', 'error'];

export interface ConversationEvents {
  post(requests: PortRequest[], way: Way): boolean;
  send(messages: FromPage[]): void;
  /** What the SDK says to the page alone. */
  heard(message: Exclude<FromSdk, ConsoleDropped>): void;
}

export class Conversation {
  document = 0;
  ready = false;
  manifest: AppManifest | null = null;
  hydrates = false;
  snapshot: Record<string, Json> | null = null;
  /** Of the content that the document shows. */
  revision = 0;
  #way: Way = 'port';
  #pending = new Map<string, Kind>();
  /** Asked before there was a document. */
  #early: AppProtocolRequest[] = [];
  #earlyTimer: ReturnType<typeof setTimeout> | undefined;
  #askedManifest: { requestId: string; timer: ReturnType<typeof setTimeout>; hydrates: boolean } | null = null;
  #warned = false;

  constructor(
    private readonly viewId: string,
    private readonly windowId: string,
    private readonly events: ConversationEvents,
  ) {}

  /** Another document: nothing of the one before holds any more. */
  begin(revision: number): void {
    this.end('The applet reloaded while the request was under way.');
    this.revision = revision;
    this.document += 1;
    this.request(this.#takeEarly());
  }

  /** No document will come, either. */
  close(reason: string): void {
    this.end(reason);
    this.#refuseEarly('VIEW_GONE', reason);
  }

  /** No document answers now. */
  end(reason: string): void {
    const unanswered = [...this.#pending].map(([requestId, kind]) => this.#gone(requestId, kind, reason));
    this.#pending.clear();
    clearTimeout(this.#askedManifest?.timer);
    this.#askedManifest = null;
    this.ready = this.hydrates = false;
    this.manifest = this.snapshot = null;
    this.#way = 'port';
    if (unanswered.length) this.events.send(unanswered);
  }

  request(requests: AppProtocolRequest[]): void {
    const isDom = ({ request }: AppProtocolRequest): boolean => request.kind === 'dom';
    const others = requests.filter((request) => !isDom(request));
    const gone = 'The applet is not there to answer: it is loading, or it left its page.';
    if (!this.#ask(others, this.#way)) this.events.send(others.map(({ requestId, request }) => this.#gone(requestId, request.kind, gone)));
    // The SDK answers for the document, also where the applet speaks for itself.
    const dom = requests.filter(isDom);
    if (!this.#ask(dom, 'port')) this.#keepEarly(dom);
  }

  receive(messages: unknown[], way: Way): void {
    const out: FromPage[] = [];
    const lines: ConsoleEntry[] = [];
    let dropped = 0;
    for (const message of messages) {
      const fields = (typeof message === 'object' && message !== null ? message : {}) as Fields;
      const kind = RESPONSES.get(fields['type']);
      if (kind) {
        this.#answer(kind, fields, way, out);
        continue;
      }
      switch (fields['type']) {
        case 'yaar:app-ready':
          this.#onReady(fields, way, out);
          break;
        case 'yaar:app-interaction':
          if (typeof fields['content'] === 'string') out.push({ type: 'interaction', windowId: this.windowId, content: fields['content'] });
          break;
        case 'yaar:app-snapshot':
          this.#onSnapshot(fields, way, out);
          break;
        case 'yaar:console':
          if (isLine(fields)) lines.push({ level: fields.level, args: fields.args, timestamp: fields.timestamp });
          break;
        default:
          if (way !== 'port' || !isFromSdk(fields)) this.#warn(message);
          else if (fields.type === 'applet:dropped') dropped += fields.count;
          else this.events.heard(fields);
      }
    }
    if (lines.length || dropped) {
      const told: ConsoleLines = { type: 'console', windowId: this.windowId, entries: lines };
      out.push(dropped ? { ...told, dropped } : told);
    }
    if (out.length) this.events.send(out);
  }

  /** False when there is no document. */
  #ask(requests: AppProtocolRequest[], way: Way): boolean {
    if (!requests.length) return true;
    const isThere = this.events.post(requests.map(toPort), way);
    if (isThere) for (const { requestId, request } of requests) this.#pending.set(requestId, request.kind);
    return isThere;
  }

  #keepEarly(requests: AppProtocolRequest[]): void {
    this.#early.push(...requests);
    const reason = `The applet has not started within ${DOCUMENT_WAIT / 1000} s; somebody may have to let it run.`;
    this.#earlyTimer ??= setTimeout(() => this.#refuseEarly('NOT_READY', reason), DOCUMENT_WAIT);
  }

  #takeEarly(): AppProtocolRequest[] {
    clearTimeout(this.#earlyTimer);
    this.#earlyTimer = undefined;
    return this.#early.splice(0);
  }

  #refuseEarly(code: string, error: string): void {
    const refused = this.#takeEarly().map(({ requestId, request }) => answerTo(requestId, this.windowId, request.kind, { error, code }));
    if (refused.length) this.events.send(refused);
  }

  #answer(kind: Kind, fields: Fields, way: Way, out: FromPage[]): void {
    const requestId = fields['requestId'];
    if (typeof requestId !== 'string' || way !== (kind === 'dom' ? 'port' : this.#way)) return;
    if (kind === 'manifest' && requestId === this.#askedManifest?.requestId) {
      this.#announce(cleanManifest(fields['manifest']), this.#askedManifest.hydrates, out);
      return;
    }
    if (this.#pending.get(requestId) !== kind) return this.#warn(fields);
    this.#pending.delete(requestId);
    out.push(answerTo(requestId, this.windowId, kind, fields));
  }

  /** The last to say ready is the one that answers. */
  #onReady(fields: Fields, way: Way, out: FromPage[]): void {
    this.#way = way;
    const manifest = cleanManifest(fields['manifest']);
    const hydrates = fields['hydrates'] === true;
    clearTimeout(this.#askedManifest?.timer);
    this.#askedManifest = null;
    if (manifest) return this.#announce(manifest, hydrates, out);
    const requestId = `manifest-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`;
    const giveUp = (): void => {
      const late: FromPage[] = [];
      this.#announce(null, hydrates, late);
      this.events.send(late);
    };
    this.#askedManifest = { requestId, hydrates, timer: setTimeout(giveUp, MANIFEST_WAIT) };
    this.events.post([{ type: 'yaar:app-manifest-request', requestId }], way);
  }

  #announce(manifest: AppManifest | null, hydrates: boolean, out: FromPage[]): void {
    clearTimeout(this.#askedManifest?.timer);
    this.#askedManifest = null;
    this.ready = true;
    this.manifest = manifest;
    this.hydrates = hydrates;
    const { windowId, viewId, document, revision } = this;
    out.push({ type: 'APP_PROTOCOL_READY', windowId, viewId, document, manifest, hydrates, revision });
  }

  #onSnapshot(fields: Fields, way: Way, out: FromPage[]): void {
    if (way !== this.#way) return;
    const { state } = fields;
    if (!isJsonObject(state)) return this.#warn(fields);
    this.snapshot = state;
    const { windowId, viewId } = this;
    out.push({ type: 'snapshot', windowId, viewId, state });
  }

  #gone(requestId: string, kind: Kind, reason: string): FromPage {
    return viewGone(requestId, this.windowId, kind, reason);
  }

  #warn(message: unknown): void {
    if (!this.#warned) console.warn(`The applet in window '${this.windowId}' sent what nobody asked for; it was ignored.`, message);
    this.#warned = true;
  }
}

const answerTo = (requestId: string, windowId: string, kind: Kind, fields: Fields): FromPage => ({
  type: 'APP_PROTOCOL_RESPONSE',
  requestId,
  windowId,
  response: toAnswer(kind, fields),
});

export const viewGone = (requestId: string, windowId: string, kind: Kind, error: string): FromPage =>
  answerTo(requestId, windowId, kind, { error, code: 'VIEW_GONE' });

/** The ask is the request's own fields; `kind` is part of the type's name. */
function toPort({ requestId, request }: AppProtocolRequest): PortRequest {
  const { kind, ...fields } = request;
  return { ...fields, type: `yaar:app-${kind}-request`, requestId } as PortRequest;
}

function toAnswer(kind: Kind, { data, result, manifest, error, code }: Fields): Answer {
  const failed =
    error === undefined || error === null ? {} : { error: String(error), ...(typeof code === 'string' ? { code } : {}) };
  switch (kind) {
    case 'manifest':
      return { kind, manifest: cleanManifest(manifest), ...failed };
    case 'query':
    case 'dom':
      return { kind, data: data ?? null, ...failed };
    case 'command':
      return { kind, result: result ?? null, ...failed };
    case 'hydrate':
      return { kind, ...failed };
  }
}

function isLine(fields: Fields): fields is ConsoleEntry & Fields {
  const { level, args, timestamp } = fields;
  return (
    typeof level === 'string' &&
    LEVELS.includes(level) &&
    typeof timestamp === 'number' &&
    Array.isArray(args) &&
    args.every((arg) => typeof arg === 'string')
  );
}
