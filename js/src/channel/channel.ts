/** Owns a page's conversation with one host: hello, the page's views, batches out, dispatch in. What carries it is a pipe. */

import {
  type AppProtocolRequest,
  type ContentChunk,
  type FileChanged,
  type FromPage,
  type Hello,
  PROTOCOL,
  type StateUpdate,
  type ToPage,
  type ViewState,
  type WindowContent,
  type WindowList,
} from '../protocol.gen.js';
import { MessageFiles } from '../files/messages.js';
import type { Asker, FileService } from '../files/service.js';
import { viewGone } from '../frame/conversation.js';
import { Announced } from './announced.js';
import { type Askable, Asked, AskError, type Piece, type Reply } from './asked.js';
import { isAsk, isToPage } from './guards.js';
import { Outbox } from './outbox.js';
import type { Encoded, Pipe, PipeEvents } from './pipe.js';
import { Subscriptions } from './subscriptions.js';

/** Whoever hears of a channel's end. */
interface Listener {
  /** The host will not talk to this page; `message` says what to do. */
  showRefusal(message: string): void;
  /** There is no host behind this channel; `kept` is what a view has said and nobody heard. */
  unreachable(kept: FromPage[]): void;
}

/** A view as a channel knows it. Views and channels may come from different copies of this module: plain calls only. */
export interface ChannelView extends Listener {
  readonly viewId: string;
  readonly windowId: string;
  state(): ViewState;
  request(requests: AppProtocolRequest[]): void;
  showWindow(message: WindowContent): void;
  showChunk(chunk: ContentChunk): void;
  updateState(update: StateUpdate): void;
  fileChanged(change: FileChanged): void;
  showClosed(): void;
}

/** A desk as a channel knows it. */
export interface ChannelDesk extends Listener {
  showWindows(list: WindowList): void;
}

/** A chat as a channel knows it. It checks by itself what it hears. */
export interface ChannelChat extends Listener {
  /** The host is there, for the first time or again. */
  connected(): void;
  hear(message: { type: string }): void;
}

export interface Peer {
  session: string;
  version: string;
  /** The page's id, the same after a reconnect. */
  id: string;
}

/** How long a channel without views stays open: a cell that is moved has none for a moment. */
const LINGER = 30_000;

const bare = (view: ViewState): ViewState => ({ ...view, snapshot: null, state: null });

/** One view with what no JSON can say does not keep the others from their host. */
function sendable(view: ViewState): ViewState {
  try {
    JSON.stringify(view);
    return view;
  } catch (error) {
    console.warn(`jupyter_applets: what window '${view.windowId}' holds cannot be sent.`, error);
    return { ...bare(view), manifest: null };
  }
}

export class Channel implements PipeEvents {
  readonly files: FileService;
  readonly #views = new Map<string, ChannelView>();
  readonly #desks = new Set<ChannelDesk>();
  readonly #chats = new Set<ChannelChat>();
  readonly #asked = new Asked();
  readonly #subscriptions = new Subscriptions();
  readonly #outbox = new Outbox((id, code, message) => this.#asked.fail({ id, code, message }));
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
    /** A better way to files than messages, where there is one. */
    files?: FileService,
  ) {
    this.files = files ?? new MessageFiles((message) => this.ask(message));
    this.#lingerIfEmpty();
    pipe.start(this);
  }

  get isUp(): boolean {
    return this.#up;
  }

  get patience(): number | null {
    return this.pipe.patience;
  }

  get session(): string {
    return this.peer.session;
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

  /** A desk wants to know which windows there are, now and whenever that changes. */
  watch(desk: ChannelDesk): void {
    clearTimeout(this.#linger);
    this.#desks.add(desk);
    if (this.#refusal !== null) desk.showRefusal(this.#refusal);
    // Also for a second desk: the answer tells it what there is.
    else this.send([{ type: 'watchWindows', watch: true }]);
  }

  unwatch(desk: ChannelDesk): void {
    if (!this.#desks.delete(desk)) return;
    if (!this.#desks.size) this.send([{ type: 'watchWindows', watch: false }]);
    this.#lingerIfEmpty();
  }

  /** A chat wants to hear what is said in the session. It is connected at once where the channel is. */
  join(chat: ChannelChat): void {
    clearTimeout(this.#linger);
    this.#chats.add(chat);
    if (this.#refusal !== null) chat.showRefusal(this.#refusal);
    else if (this.#up) chat.connected();
  }

  leave(chat: ChannelChat): void {
    if (!this.#chats.delete(chat)) return;
    if (!this.#chats.size) this.send([{ type: 'closeChat' }]);
    this.#lingerIfEmpty();
  }

  send(messages: FromPage[]): void {
    if (!this.#up) return this.#outbox.keep(messages);
    this.#outbox.add(messages);
    this.#schedule();
  }

  /**
   * What the host answers. Rejects with its error; nothing is asked twice, so a cut rejects too.
   * `heard` gets what the host says on the way. A question that has an id keeps it, so that it can be cancelled.
   */
  ask(question: Askable, heard?: (piece: Piece) => void): Promise<Reply[]> {
    if (!this.#up) return Promise.reject(new AskError('LINK_LOST', 'There is no connection to the host right now.'));
    const { message, replies } = this.#asked.add(question, heard);
    this.send([message]);
    return replies;
  }

  subscribe(viewId: string, by: Asker, path: string): Promise<void> {
    return this.#subscriptions.add(viewId, { path, ...by }, () => this.ask({ type: 'subscribe', path, ...by }));
  }

  unsubscribe({ viewId, windowId }: ChannelView, path: string): void {
    if (this.#subscriptions.remove(viewId, windowId, path)) this.send([{ type: 'unsubscribe', windowId, path }]);
  }

  unsubscribeAll(viewId: string): void {
    for (const { windowId, path } of this.#subscriptions.removeAll(viewId)) this.send([{ type: 'unsubscribe', windowId, path }]);
  }

  close(): void {
    this.#flush();
    clearTimeout(this.#linger);
    this.#down('The connection to the host was closed.');
    this.pipe.stop();
    this.ended();
  }

  // ---- the pipe's events

  opened(): void {
    if (this.#refusal !== null) return;
    this.#up = true;
    const { session, version, id } = this.peer;
    const views = [...this.#views.values()].map((view) => this.#announced.mark(view.state())).map(sendable);
    let hello: Hello = { type: 'hello', protocol: PROTOCOL, version, role: 'page', session, id, views };
    let text = JSON.stringify(hello);
    if (text.length * 3 > this.#outbox.maxBytes) {
      // The host has had snapshots and states; a page with many of them must still be able to say hello.
      hello = { ...hello, views: views.map(bare) };
      text = JSON.stringify(hello);
    }
    this.#put([{ message: hello, text }]);
    this.#outbox.add(this.#subscriptions.messages());
    if (this.#desks.size) this.#outbox.add([{ type: 'watchWindows', watch: true }]);
    this.#tellChats((chat) => chat.connected());
    this.#flush();
  }

  lost(): void {
    this.#down('The connection to the host was lost.');
    this.#outbox.retain();
  }

  unreachable(): void {
    this.close();
    const views = [...this.#views.values()];
    const others = [...this.#desks, ...this.#chats];
    this.#views.clear();
    this.#desks.clear();
    this.#chats.clear();
    let kept = this.#outbox.handOver();
    for (const view of views) {
      // What is a window's goes with the first of its views, and so only once.
      const isOf = (message: FromPage): boolean =>
        'viewId' in message ? message.viewId === view.viewId : 'windowId' in message && message.windowId === view.windowId;
      view.unreachable(kept.filter(isOf));
      kept = kept.filter((message) => !isOf(message));
    }
    for (const listener of others) listener.unreachable([]);
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
      if (!isToPage(message)) {
        this.#warnOnce(String((message as { type?: unknown } | null)?.type), message);
      } else if (isAsk(message)) {
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

  #dispatch(message: Exclude<ToPage, AppProtocolRequest>): void {
    switch (message.type) {
      case 'welcome':
        this.#outbox.maxBytes = message.maxMessageBytes;
        break;
      case 'error':
        if (message.code === 'PROTOCOL_MISMATCH') this.#refuse(message.message);
        else if (!this.#asked.fail(message)) this.#warnOnce(`error ${message.code}`, message);
        break;
      case 'result':
      case 'fileContent':
      case 'fileWritten':
      case 'fileList':
        this.#asked.settle(message);
        break;
      case 'windowContent':
        for (const view of this.#viewsOf(message.windowId, message.viewId)) view.showWindow(message);
        break;
      case 'contentChunk':
        for (const view of this.#viewsOf(message.windowId)) view.showChunk(message);
        break;
      case 'stateUpdate':
        for (const view of this.#viewsOf(message.windowId ?? '', message.viewId)) view.updateState(message);
        break;
      case 'fileChanged':
        for (const viewId of this.#subscriptions.viewsFor(message)) this.#views.get(viewId)?.fileChanged(message);
        break;
      case 'windowClosed':
        for (const view of this.#viewsOf(message.windowId)) view.showClosed();
        break;
      case 'windows':
        for (const desk of this.#desks) desk.showWindows(message);
        break;
      case 'invokeComplete':
        if (typeof message.error !== 'string') this.#asked.settle(message);
        else this.#asked.fail({ id: message.id, code: message.code ?? 'AGENT_FAILED', message: message.error });
        break;
      default:
        if ('id' in message && message.id) this.#asked.hear(message);
        else this.#tellChats((chat) => chat.hear(message));
    }
  }

  /** One that fails is not to take the others with it. */
  #tellChats(tell: (chat: ChannelChat) => void): void {
    for (const chat of this.#chats) {
      try {
        tell(chat);
      } catch (error) {
        console.error(error);
      }
    }
  }

  #refuse(message: string): void {
    this.#refusal = message;
    this.#down(message);
    this.pipe.stop();
    for (const listener of [...this.#views.values(), ...this.#desks, ...this.#chats]) listener.showRefusal(message);
  }

  #down(reason: string): void {
    this.#up = false;
    this.#asked.failAll('LINK_LOST', reason);
  }

  #viewsOf(windowId: string, viewId?: string | null): ChannelView[] {
    return [...this.#views.values()].filter((view) => view.windowId === windowId && view.viewId === (viewId ?? view.viewId));
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
    if (this.#views.size + this.#desks.size + this.#chats.size === 0) this.#linger = setTimeout(() => this.close(), LINGER);
  }

  #warnOnce(what: string, message: unknown): void {
    if (this.#warned.has(what)) return;
    this.#warned.add(what);
    console.warn(`jupyter_applets: a message from the host was not understood (${what}).`, message);
  }
}
