/** Owns a page's conversation with one host: hello, the page's views, batches out, dispatch in. What carries it is a pipe. */

import {
  type AppProtocolRequest,
  type Content,
  type FromPage,
  type Hello,
  PROTOCOL,
  type ViewState,
} from '../protocol.gen.js';
import { viewGone } from '../frame/conversation.js';
import { Announced } from './announced.js';
import { isContent, isRequest, type Fields } from './guards.js';
import { Outbox } from './outbox.js';
import type { Encoded, Pipe, PipeEvents } from './pipe.js';

/** A view as a channel knows it. Views and channels may come from different copies of this module: plain calls only. */
export interface ChannelView {
  readonly viewId: string;
  readonly windowId: string;
  state(): ViewState;
  request(requests: AppProtocolRequest[]): void;
  showContent(revision: number, content: Content): void;
  showClosed(): void;
  /** The host will not talk to this page; `message` says what to do. */
  showRefusal(message: string): void;
  /** There is no host behind this channel; `kept` is what the view has said and nobody heard. */
  unreachable(kept: FromPage[]): void;
}

export interface Peer {
  session: string;
  version: string;
  /** The page's id, the same after a reconnect. */
  id: string;
}

/** How long a channel without views stays open: a cell that is moved has none for a moment. */
const LINGER = 30_000;

export class Channel implements PipeEvents {
  readonly #views = new Map<string, ChannelView>();
  readonly #outbox = new Outbox();
  readonly #announced = new Announced();
  readonly #warned = new Set<string>();
  #up = false;
  #scheduled = false;
  #refusal: string | null = null;
  #linger: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly peer: Peer,
    private readonly pipe: Pipe,
    /** Called once, when the channel is of no more use. */
    private readonly ended: () => void,
  ) {
    this.#lingerIfEmpty();
    pipe.start(this);
  }

  attach(view: ChannelView): void {
    clearTimeout(this.#linger);
    this.#views.set(view.viewId, view);
    if (this.#refusal !== null) view.showRefusal(this.#refusal);
    else this.send([{ type: 'viewOpened', view: view.state() }]);
  }

  detach(viewId: string): void {
    if (!this.#views.delete(viewId)) return;
    this.#announced.forget(viewId);
    this.send([{ type: 'viewClosed', viewId }]);
    this.#lingerIfEmpty();
  }

  send(messages: FromPage[]): void {
    if (!this.#up) return this.#outbox.keep(messages);
    this.#outbox.add(messages);
    this.#schedule();
  }

  close(): void {
    this.#flush();
    clearTimeout(this.#linger);
    this.#up = false;
    this.pipe.stop();
    this.ended();
  }

  // ---- the pipe's events

  opened(): void {
    if (this.#refusal !== null) return;
    this.#up = true;
    const { session, version, id } = this.peer;
    const views = [...this.#views.values()].map((view) => this.#announced.mark(view.state()));
    let hello: Hello = { type: 'hello', protocol: PROTOCOL, version, role: 'page', session, id, views };
    let text = JSON.stringify(hello);
    if (text.length * 3 > this.#outbox.maxBytes) {
      // The host has had the snapshots; a page with many of them must still be able to say hello.
      hello = { ...hello, views: views.map((view) => ({ ...view, snapshot: null })) };
      text = JSON.stringify(hello);
    }
    this.#put([{ message: hello, text }]);
    this.#flush();
  }

  lost(): void {
    this.#up = false;
    this.#outbox.retain();
  }

  unreachable(): void {
    this.close();
    const views = [...this.#views.values()];
    this.#views.clear();
    let kept = this.#outbox.handOver();
    for (const view of views) {
      // What is a window's goes with the first of its views, and so only once.
      const isOf = (message: FromPage): boolean =>
        'viewId' in message ? message.viewId === view.viewId : 'windowId' in message && message.windowId === view.windowId;
      view.unreachable(kept.filter(isOf));
      kept = kept.filter((message) => !isOf(message));
    }
  }

  /** The views stay: a page that the browser brings back says hello with them. */
  leaving(): void {
    this.send([...this.#views.keys()].map((viewId) => ({ type: 'viewClosed', viewId })));
    this.#flush();
  }

  received(messages: unknown[]): void {
    const requests = new Map<ChannelView, AppProtocolRequest[]>();
    const deliver = (): void => {
      for (const [view, batch] of requests) view.request(batch);
      requests.clear();
    };
    for (const message of messages) {
      if (isRequest(message)) {
        this.#collect(message, requests);
      } else {
        deliver();
        this.#dispatch(message);
      }
    }
    deliver();
  }

  #collect(request: AppProtocolRequest, requests: Map<ChannelView, AppProtocolRequest[]>): void {
    const view = this.#views.get(request.viewId ?? '') ?? this.#viewsOf(request.windowId)[0];
    if (!view) {
      const { requestId, windowId } = request;
      this.send([viewGone(requestId, windowId, request.request.kind, `This page no longer shows window '${windowId}'.`)]);
      return;
    }
    const batch = requests.get(view);
    if (batch) batch.push(request);
    else requests.set(view, [request]);
  }

  #dispatch(message: unknown): void {
    const fields = (typeof message === 'object' && message !== null ? message : {}) as Fields;
    const { type } = fields;
    if (type === 'welcome' && typeof fields['maxMessageBytes'] === 'number') {
      this.#outbox.maxBytes = fields['maxMessageBytes'];
    } else if (type === 'error' && typeof fields['message'] === 'string') {
      if (fields['code'] === 'PROTOCOL_MISMATCH') this.#refuse(fields['message']);
      else this.#warnOnce(`error ${String(fields['code'])}`, message);
    } else if (isContent(fields)) {
      for (const view of this.#viewsOf(fields.windowId)) view.showContent(fields.revision, fields.content);
    } else if (type === 'windowClosed' && typeof fields['windowId'] === 'string') {
      for (const view of this.#viewsOf(fields['windowId'])) view.showClosed();
    } else {
      this.#warnOnce(String(type), message);
    }
  }

  #refuse(message: string): void {
    this.#refusal = message;
    this.#up = false;
    this.pipe.stop();
    for (const view of this.#views.values()) view.showRefusal(message);
  }

  #viewsOf(windowId: string): ChannelView[] {
    return [...this.#views.values()].filter((view) => view.windowId === windowId);
  }

  /** One frame for all that is said in one tick. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#up) return;
    for (const frame of this.#outbox.take()) this.#put(frame);
  }

  #put(frame: Encoded[]): void {
    this.pipe.send(frame);
    for (const { message } of frame) this.#announced.note(message as FromPage);
  }

  #lingerIfEmpty(): void {
    if (this.#views.size === 0) this.#linger = setTimeout(() => this.close(), LINGER);
  }

  #warnOnce(what: string, message: unknown): void {
    if (this.#warned.has(what)) return;
    this.#warned.add(what);
    console.warn(`jupyter_applets: a message from the host was not understood (${what}).`, message);
  }
}
