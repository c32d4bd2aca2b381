/** Owns the reading of an event stream, as HTML's EventSource does it: events, their ids, and coming back after a cut. */

export interface StreamEvent {
  type: string;
  data: string;
  lastEventId: string;
}

/** Takes a stream's text in any pieces. What it keeps between them is what an EventSource does. */
export class EventParser {
  lastEventId = '';
  /** How long to wait before coming back, in milliseconds. */
  retry = 1000;
  #rest = '';
  /** The last character so far. */
  #before = '';
  #type = '';
  #data: string[] = [];
  #id: string | null = null;

  /** Another response: what the one before left unfinished is no event. */
  begin(): void {
    this.#rest = this.#before = this.#type = '';
    this.#data = [];
    this.#id = null;
  }

  /** The events that are whole now. */
  take(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    if (!text) return events;
    // The CR that ended the text before was perhaps half of a CRLF.
    const fresh = this.#before === '' ? text.replace(/^\uFEFF/, '') : this.#before === '\r' ? text.replace(/^\n/, '') : text;
    this.#before = text.slice(-1);
    const lines = (this.#rest + fresh).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line) this.#field(line);
      else this.#dispatch(events);
    }
    return events;
  }

  #field(line: string): void {
    const [, name = '', value = ''] = /^([^:]*):? ?([^]*)$/.exec(line) ?? [];
    if (name === 'event') this.#type = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retry = Number(value);
  }

  #dispatch(events: StreamEvent[]): void {
    if (this.#id !== null) this.lastEventId = this.#id;
    if (this.#data.length) events.push({ type: this.#type || 'message', data: this.#data.join('\n'), lastEventId: this.lastEventId });
    this.#type = '';
    this.#data = [];
  }
}

type Handler = ((event: Event) => unknown) | null | undefined;

/** An EventSource as the SDK makes it before this half is there: the applet may already have set its handlers, or closed it. */
export interface Source extends EventTarget {
  readonly url: string;
  readyState: number;
  onopen?: Handler;
  onmessage?: Handler;
  onerror?: Handler;
  close(): void;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 2;

/** A server that is away is asked less and less often. */
const MAX_WAIT = 30_000;

/** Reads until the server has said `done`, or that there is nothing more, or until the source is closed. */
export async function follow(source: Source, fetch: Fetch): Promise<void> {
  const abort = new AbortController();
  const { signal } = abort;
  if (source.readyState === CLOSED) return;
  const close = (): void => {
    source.readyState = CLOSED;
    abort.abort();
  };
  Object.assign(source, { CONNECTING, OPEN, CLOSED, withCredentials: false, close });
  for (const name of ['open', 'message', 'error'] as const) source.addEventListener(name, (event) => source[`on${name}`]?.(event));
  const parser = new EventParser();
  for (let failures = 0; !signal.aborted; ) {
    try {
      const { lastEventId } = parser;
      const headers = { Accept: 'text/event-stream', ...(lastEventId ? { 'Last-Event-ID': lastEventId } : {}) };
      const response = await fetch(source.url, { headers, signal });
      if (response.status !== 200 || !/^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '')) {
        // As a browser does: such an answer is the end. 204 says that there is nothing more.
        if (response.status < 500 || response.headers.get('Content-Type')?.startsWith('application/json')) {
          source.close();
          source.dispatchEvent(new Event('error'));
          return;
        }
        throw new Error(`The server answered ${response.status}.`);
      }
      failures = 0;
      source.readyState = OPEN;
      source.dispatchEvent(new Event('open'));
      await read(response, parser, source, signal);
    } catch {
      failures += 1;
    }
    if (signal.aborted) return;
    source.readyState = CONNECTING;
    source.dispatchEvent(new Event('error'));
    await pause(Math.min(MAX_WAIT, parser.retry * 2 ** Math.max(0, failures - 1)), signal);
  }
}

async function read(response: Response, parser: EventParser, source: Source, signal: AbortSignal): Promise<void> {
  parser.begin();
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { type, ...fields } of parser.take(decoder.decode(value, { stream: true }))) {
      if (signal.aborted) return;
      source.dispatchEvent(new MessageEvent(type, fields));
      if (type === 'done') source.close();
    }
  }
}

function pause(wait: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, wait);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
