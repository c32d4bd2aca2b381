/**
 * One view: shows a window's content in a frame, and stands for it to the channel.
 * It loads when the host has told what to load, with which state, and whether a person is to be asked first.
 */

import type { Channel, ChannelView } from './channel/channel.js';
import { hasRun, noteRun } from './channel/shared.js';
import { Consent } from './consent.js';
import { shown } from './dom.js';
import { Conversation } from './frame/conversation.js';
import { Frame } from './frame/frame.js';
import type { ToSdk } from './frame/messages.js';
import { readTheme, watchTheme } from './frame/theme.js';
import { Visibility } from './frame/visibility.js';
import { Hearing } from './hearing.js';
import { needsLexer } from './lexer/needed.js';
import { bodyOf, configOf, documentOf } from './loading.js';
import { Panels } from './panels.js';
import type { AppProtocolRequest, Content, ContentChunk, FileChanged, FromPage, StateUpdate, ViewState, WindowContent } from './protocol.gen.js';
import { FILL_HEIGHT, MAX_HEIGHT } from './sdk/size.js';
import { State } from './state.js';
import { StreamedHtml } from './stream.js';

/** When a person is told that the server is waited for. */
const SILENCE = 3000;

export interface ViewOptions {
  viewId: string;
  windowId: string;
  /** 0 when there is no content before the host tells it. */
  revision: number;
  content: Content;
  /** The channel to use from now on: one without views ends after a while. */
  channel(): Channel;
  /** The text that runs first in the applet's document. */
  sdk: string;
  /** Another channel, when there is no host behind the first. */
  fallBack(): Channel;
  /** The place has a height of its own. */
  fills?: boolean;
  /** The text of one of our bundles. */
  loadText(name: string): Promise<string>;
}

export class View implements ChannelView {
  readonly viewId: string;
  readonly windowId: string;
  readonly #options: ViewOptions;
  readonly #frame: Frame;
  readonly #panels: Panels;
  readonly #conversation: Conversation;
  readonly #state: State;
  readonly #consent: Consent;
  readonly #hearing: Hearing;
  readonly #visibility: Visibility;
  readonly #unwatchTheme: () => void;
  #channel: Channel;
  #content: Content;
  #revision: number;
  /** The first revision of this applet: a saved one that is loaded again, or edited, goes on with its state. */
  #began = 0;
  #stream: StreamedHtml | null = null;
  #isClosed = false;
  /** The host has told what to show, or was waited for in vain. */
  #isAnswered = false;
  /** Whether the content may run. Once it may, it may until there is another. */
  #run: 'unknown' | 'ask' | 'run' = 'unknown';
  /** What the frame shows, as a text that is another for everything that needs another document. */
  #loaded: string | null = null;
  #loads = 0;
  /** Once some content needed it. */
  #lexer = '';
  #waits: ReturnType<typeof setTimeout>[] = [];
  /** The height of the content, as the applet last told it. */
  #measured = FILL_HEIGHT;

  constructor(options: ViewOptions) {
    ({ viewId: this.viewId, windowId: this.windowId, content: this.#content, revision: this.#revision } = options);
    this.#options = options;
    this.#channel = options.channel();
    const send = (messages: FromPage[]): void => this.#channel.send(messages);
    this.#frame = new Frame(options.sdk, {
      started: () => this.#started(),
      ended: () => this.#endDocument('The applet left or reloaded its page while the request was under way.'),
      lost: () => this.#showLost(),
      received: (messages, way) => this.#conversation.receive(messages, way),
    });
    this.#conversation = new Conversation(this.viewId, this.windowId, {
      post: (requests, way) => this.#frame.post(requests, way),
      send,
      heard: (message) => this.#hearing.hear(message),
    });
    this.#state = new State(this.viewId, this.windowId, {
      post: (message) => this.#post(message),
      send,
      ask: (message) => this.#channel.ask(message),
    });
    this.#panels = new Panels(this.#frame.element);
    const channel = (): Channel => this.#channel;
    const name = (): string => (this.#content.title ? shown(this.#content.title) : 'This applet');
    this.#consent = new Consent(this.windowId, this.#panels, { channel, name, changed: () => this.#settle() });
    this.#hearing = new Hearing({
      view: this,
      channel,
      panels: this.#panels,
      consent: this.#consent,
      state: this.#state,
      conversation: this.#conversation,
      measured: (height) => {
        this.#measured = Math.min(height, MAX_HEIGHT);
        this.#applyHeight();
      },
      post: (reply) => this.#post(reply),
      loadText: options.loadText,
    });
    this.#visibility = new Visibility(this.#frame.element, () => this.#postVisible());
    this.#unwatchTheme = watchTheme((theme) => this.#frame.setTheme(theme));
    this.#panels.showLoading();
    this.#attach();
  }

  get element(): HTMLElement {
    return this.#panels.root;
  }

  dispose(): void {
    this.#leave('The view was closed while the request was under way.');
    this.#unwatchTheme();
    this.#visibility.dispose();
    this.#frame.dispose();
    this.#panels.dispose();
  }

  /** The widget's own content, which may come before the host's word of it. */
  showContent(revision: number, content: Content): void {
    if (revision < this.#revision) return;
    const isNewer = revision > this.#revision;
    if (isNewer) this.#state.replace({}, 0);
    // In the same revision the host's content may have more than a widget has.
    this.#take(revision, isNewer ? content : { ...this.#content, ...content });
    if (this.#isClosed) {
      if (isNewer) this.#reopen();
    } else if (isNewer && this.#loaded === null) {
      this.#announce();
    } else {
      this.#settle();
    }
  }

  // ---- for the channel

  /** For an announcement, which the host answers with what it holds. */
  state(): ViewState {
    const { document, ready, manifest, hydrates, snapshot } = this.#conversation;
    const { viewId, windowId } = this;
    const title = this.#content.title ?? '';
    const told = { viewId, windowId, revision: this.#revision, document, ready, manifest, hydrates, snapshot, title };
    const { data } = this.#state;
    return data ? { ...told, state: data } : told;
  }

  request(requests: AppProtocolRequest[]): void {
    this.#conversation.request(requests);
  }

  /** What the window shows, and with what, for this view. */
  showWindow({ revision, content, state = {}, rev = 0, granted = {}, run = 'run' }: WindowContent): void {
    const isNewer = revision > this.#revision;
    if (revision < this.#revision || (isNewer && !content)) return;
    if (isNewer) this.#state.replace(state, rev);
    else this.#state.answered(state, rev);
    if (isNewer || this.#run !== 'run') this.#run = hasRun(this.#place(revision)) ? 'run' : run;
    this.#consent.setGranted(granted);
    if (content) this.#take(revision, content);
    this.#isAnswered = true;
    this.#settle();
  }

  showChunk(chunk: ContentChunk): void {
    if (chunk.revision < this.#revision) return;
    const fresh = (chunk.revision === this.#revision && this.#stream?.take(chunk)) ?? null;
    if (typeof fresh === 'string') this.#postHtml(fresh);
    // Something was missed: the host's answer has all there is.
    else this.#announce();
  }

  updateState(update: StateUpdate): void {
    this.#state.update(update);
  }

  fileChanged({ path, event }: FileChanged): void {
    this.#post({ type: 'applet:file-changed', path, event });
  }

  /** Its picture stays, but it says nothing more: whatever a view says would bring the window back at the host. */
  showClosed(): void {
    this.#isClosed = true;
    this.#leave('The window was closed while the request was under way.');
    this.#frame.stop();
    // An error may have a button, which would start the applet again.
    this.#panels.clearError();
    this.#panels.showClosed();
  }

  showRefusal(message: string): void {
    this.#panels.showRefusal(message);
    this.#waitedInVain();
  }

  unreachable(kept: FromPage[]): void {
    this.#channel = this.#options.fallBack();
    this.#attach();
    this.#channel.send(kept);
  }

  // ---- coming and going

  #attach(): void {
    this.#channel.attach(this);
    const { patience } = this.#channel;
    this.#waits.push(setTimeout(() => (patience === null ? this.#stillWaits() : this.#waitedInVain()), patience ?? SILENCE));
  }

  /** What this page has let run once may run again, in another place of the notebook. */
  #place(revision: number): string {
    return JSON.stringify([this.#channel.session, this.windowId, revision]);
  }

  #announce(): void {
    this.#channel.send([{ type: 'viewOpened', view: this.state() }]);
  }

  #stillWaits(): void {
    if (!this.#isAnswered) this.#panels.showLoading('Waiting for the server…');
  }

  /** There is nobody to ask: it shows what it has. */
  #waitedInVain(): void {
    if (this.#isAnswered || this.#revision === 0) return;
    this.#isAnswered = true;
    this.#settle();
  }

  #leave(reason: string): void {
    for (const timer of this.#waits.splice(0)) clearTimeout(timer);
    this.#consent.askNoMore();
    this.#loads += 1;
    this.#hearing.forget();
    this.#conversation.close(reason);
    this.#channel.unsubscribeAll(this.viewId);
    this.#channel.detach(this.viewId);
  }

  #reopen(): void {
    this.#isClosed = this.#isAnswered = false;
    this.#loaded = null;
    this.#panels.showLoading();
    this.#channel = this.#options.channel();
    this.#attach();
  }

  // ---- from content to document

  /** A higher revision is another applet, even with the same text. */
  #take(revision: number, content: Content): void {
    const isNew = revision > this.#revision || documentOf(content) !== documentOf(this.#content);
    if (revision > this.#revision && !(content.slug && content.slug === this.#content.slug)) this.#began = revision;
    this.#revision = revision;
    this.#content = content;
    if (isNew) this.#consent.permissions.forget();
    const { html = '', streaming } = content;
    if (!streaming) this.#stream = null;
    else if (isNew || !this.#stream) this.#stream = new StreamedHtml(html);
    else this.#postHtml(this.#stream.catchUp(html));
  }

  /** Brings what shows in line with what is known. Only what changed is done. */
  #settle(): void {
    if (this.#isClosed || !this.#isAnswered) return;
    if (this.#run === 'ask') return this.#askSoon();
    this.#consent.askNoMore();
    const { origins, clipboard } = this.#consent.permissions.allowed(this.#content);
    const wanted = JSON.stringify([this.#revision, documentOf(this.#content), origins, clipboard]);
    if (wanted !== this.#loaded) return this.#load(wanted);
    this.#frame.setTitle(this.#content.title);
    this.#applyHeight();
  }

  #reload(): void {
    this.#load(this.#loaded ?? '');
  }

  #load(wanted: string): void {
    if (this.#loaded !== null) this.#endDocument('The applet got new content while the request was under way.');
    this.#loaded = wanted;
    this.#panels.clearError();
    this.#panels.clearBars();
    this.#panels.showLoading();
    this.#measured = FILL_HEIGHT;
    this.#applyHeight();
    for (const entry of this.#consent.permissions.allowed(this.#content).refused) {
      this.#panels.showBar(`refused ${entry}`, `permissions["network"]: ${shown(entry)} is not an origin such as https://example.com, and was ignored.`);
    }
    this.#loads += 1;
    if (needsLexer(this.#content) && !this.#lexer) void this.#loadWithLexer(this.#loads);
    else this.#start();
  }

  async #loadWithLexer(load: number): Promise<void> {
    this.#frame.clear();
    try {
      this.#lexer = await this.#options.loadText('lexer.js');
    } catch (error) {
      if (load === this.#loads) this.#panels.showError({ message: `What reads the applet's modules could not be loaded: ${error}` });
    }
    if (load === this.#loads) this.#start();
  }

  #start(): void {
    const stream = this.#stream;
    const lexer = needsLexer(this.#content) ? this.#lexer : '';
    const fills = this.#options.fills ?? this.#content.height != null;
    const config = configOf(this.#content, { theme: readTheme(), state: this.#state.data, lexer, stream, fills });
    this.#state.loaded();
    if (this.#run === 'run') noteRun(this.#place(this.#revision));
    const revision = this.#revision;
    this.#frame.load(bodyOf(this.#content, stream), config, this.#consent.permissions.allowed(this.#content), (messages) => {
      // Not where what it says is another applet's now.
      if (revision >= this.#began) this.#hearing.hearLast(messages, revision);
    });
  }

  #started(): void {
    this.#panels.clearError();
    this.#conversation.begin(this.#revision);
    // What the document was made with may be old: it can reload by itself, as it was made.
    this.#frame.setTheme(readTheme());
    this.#state.started();
    this.#postVisible();
    if (this.#stream) this.#postHtml(this.#stream.html);
  }

  /** The host has to know: what shows is another revision, or nothing that could answer. */
  #endDocument(reason: string): void {
    this.#conversation.end(reason);
    this.#state.ended();
    this.#hearing.forget();
    this.#channel.unsubscribeAll(this.viewId);
    this.#announce();
  }

  // ---- the person

  #askSoon(): void {
    if (this.#loaded !== null) {
      this.#frame.clear();
      this.#endDocument('The applet got new content while the request was under way.');
      this.#loaded = null;
      this.#panels.clearBars();
      this.#panels.showLoading();
    }
    this.#consent.askToRun(this.#content, () => {
      this.#run = 'run';
      this.#settle();
    });
  }

  #showLost(): void {
    this.#panels.showLost();
    this.#panels.clearError();
    this.#panels.showError({
      message: 'The applet tried to leave its page, which an applet cannot do.',
      action: ['Start again', () => this.#reload()],
    });
  }

  // ---- the document

  #post(message: ToSdk): boolean {
    return this.#frame.post([message], 'port');
  }

  #postVisible(): void {
    this.#post({ type: 'applet:visible', visible: this.#visibility.isVisible });
  }

  #postHtml(html: string): void {
    if (html) this.#post({ type: 'applet:html', html });
  }

  /** Not while a question stands below: it would move. */
  #applyHeight(): void {
    if (this.#consent.asking.isOpen && this.#panels.isShown) return;
    const height = this.#content.height ?? this.#measured;
    this.#frame.element.style.height = typeof height === 'string' ? height : `${height}px`;
  }
}
