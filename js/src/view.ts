/**
 * One view: shows a window's content in a frame, and stands for it to the channel.
 * It loads when the host has told what to load, with which state, and whether a person is to be asked first.
 */

import { Asking } from './asking.js';
import { codeOf } from './channel/asked.js';
import type { Channel, ChannelView } from './channel/channel.js';
import { FileAccess } from './files/access.js';
import { Conversation } from './frame/conversation.js';
import { Frame } from './frame/frame.js';
import type { ConsoleDropped, FromSdk, Reply, SdkCall, SdkConfig, ToSdk } from './frame/messages.js';
import { readTheme, watchTheme } from './frame/theme.js';
import { Visibility } from './frame/visibility.js';
import { needsLexer } from './lexer/needed.js';
import { Panels } from './panels.js';
import { blockedLoad, Permissions } from './permissions.js';
import type {
  AppProtocolRequest,
  Content,
  ContentChunk,
  FileChanged,
  FromPage,
  Json,
  StateUpdate,
  ViewState,
  WindowContent,
} from './protocol.gen.js';
import { runPanel } from './run-panel.js';
import { FILL_HEIGHT, MAX_HEIGHT } from './sdk/size.js';
import { State } from './state.js';
import { StreamedHtml } from './stream.js';

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
  /** The text of one of our bundles. */
  loadText(name: string): Promise<string>;
}

/** A person is not asked at once, because the kernel may vouch for the applet just after. */
const ASK_DELAY = 300;

/** The parts of a content that make the document: a change of them needs another one. What streams grows in the one there is. */
const documentOf = ({ html = '', js = '', css = '', permissions = {}, modules = {}, files = {}, streaming = false }: Content): string =>
  JSON.stringify([streaming || html, js, css, permissions, modules, files]);

export class View implements ChannelView {
  readonly viewId: string;
  readonly windowId: string;
  readonly #options: ViewOptions;
  readonly #frame: Frame;
  readonly #panels: Panels;
  readonly #conversation: Conversation;
  readonly #state: State;
  readonly #asking: Asking;
  readonly #files: FileAccess;
  readonly #permissions = new Permissions();
  readonly #visibility: Visibility;
  readonly #unwatchTheme: () => void;
  #channel: Channel;
  #content: Content;
  #revision: number;
  #stream: StreamedHtml | null = null;
  #isClosed = false;
  /** The host has told what to show, or was waited for in vain. */
  #isAnswered = false;
  /** Whether the content may run. Once it may, it may until there is another. */
  #run: 'unknown' | 'ask' | 'run' = 'unknown';
  /** What the frame shows, as a text that is another for everything that needs another document. */
  #loaded: string | null = null;
  #loads = 0;
  #waits: ReturnType<typeof setTimeout>[] = [];
  #askTimer: ReturnType<typeof setTimeout> | undefined;
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
      heard: (message) => this.#heard(message),
    });
    this.#state = new State(this.viewId, this.windowId, { post: (message) => this.#post(message), send });
    this.#panels = new Panels(this.#frame.element);
    this.#asking = new Asking(this.#panels);
    this.#files = new FileAccess(this, this.#asking, {
      channel: () => this.#channel,
      name: () => this.#name,
      permit: (permission, value) => this.#permit(permission, value),
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
    this.#panels.root.remove();
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
    this.#state.announced();
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
    if (isNewer || this.#run !== 'run') this.#run = run;
    this.#permissions.granted = granted;
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
    this.#waits.push(setTimeout(() => this.#waitedInVain(), this.#channel.patience));
  }

  #announce(): void {
    this.#channel.send([{ type: 'viewOpened', view: this.state() }]);
  }

  /** There is nobody to ask: it shows what it has. */
  #waitedInVain(): void {
    if (this.#isAnswered || this.#revision === 0) return;
    this.#isAnswered = true;
    this.#settle();
  }

  #leave(reason: string): void {
    for (const timer of this.#waits.splice(0)) clearTimeout(timer);
    clearTimeout(this.#askTimer);
    this.#loads += 1;
    this.#asking.drop();
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
    this.#revision = revision;
    this.#content = content;
    if (isNew) this.#permissions.forget();
    const { html = '', streaming } = content;
    if (!streaming) this.#stream = null;
    else if (isNew || !this.#stream) this.#stream = new StreamedHtml(html);
    else this.#postHtml(this.#stream.catchUp(html));
  }

  /** Brings what shows in line with what is known. Only what changed is done. */
  #settle(): void {
    if (this.#isClosed || !this.#isAnswered) return;
    if (this.#run === 'ask') return this.#askSoon();
    clearTimeout(this.#askTimer);
    const { origins, clipboard } = this.#permissions.allowed(this.#content);
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
    for (const entry of this.#permissions.allowed(this.#content).refused) {
      this.#panels.showBar(entry, `permissions["network"]: ${entry} is not an origin such as https://example.com, and was ignored.`);
    }
    this.#loads += 1;
    if (needsLexer(this.#content)) void this.#loadWithLexer(this.#loads);
    else this.#start();
  }

  async #loadWithLexer(load: number): Promise<void> {
    this.#frame.clear();
    let lexer = '';
    try {
      lexer = await this.#options.loadText('lexer.js');
    } catch (error) {
      if (load === this.#loads) this.#panels.showError({ message: `What reads the applet's modules could not be loaded: ${error}` });
    }
    if (load === this.#loads) this.#start(lexer);
  }

  #start(lexer = ''): void {
    const { html, js = '', css = '', slug, modules, files } = this.#content;
    const { data } = this.#state;
    this.#state.loaded();
    const config: Omit<SdkConfig, 'key'> = {
      js: this.#stream ? '' : js,
      css,
      theme: readTheme(),
      ...(data && { state: data }),
      ...(slug && { slug }),
      ...(modules && { modules }),
      ...(files && { files }),
      ...(lexer && { lexer }),
      ...(this.#stream && { streaming: true }),
    };
    // What streams goes to the document piece by piece, from its first character on.
    this.#frame.load({ ...this.#content, html: this.#stream ? '' : (html ?? '') }, config, this.#permissions.allowed(this.#content));
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
    this.#asking.drop();
    this.#channel.unsubscribeAll(this.viewId);
    this.#announce();
  }

  // ---- the person

  get #name(): string {
    return this.#content.title || 'This applet';
  }

  #askSoon(): void {
    if (this.#loaded !== null) {
      this.#frame.clear();
      this.#endDocument('The applet got new content while the request was under way.');
      this.#loaded = null;
      this.#panels.clearBars();
      this.#panels.showLoading();
    }
    const run = (): void => {
      this.#run = 'run';
      this.#settle();
    };
    const always = (): void => {
      run();
      void this.#permit('run', true).catch((error: unknown) => this.#panels.showBar('run', `It could not be kept that this applet may run: ${error}`));
    };
    clearTimeout(this.#askTimer);
    this.#askTimer = setTimeout(() => this.#panels.showInstead(runPanel(this.#content, run, always)), ASK_DELAY);
  }

  async #permit(permission: string, value: Json): Promise<void> {
    const { windowId } = this;
    await this.#channel.ask({ type: 'permit', windowId, permission, value });
  }

  async #showBlocked(url: string, directive: string): Promise<void> {
    const { origin, kind } = blockedLoad(url, directive);
    if (!origin) return this.#panels.showBar(url, `Blocked: ${url} (${kind})`);
    if (this.#permissions.denied.has(origin)) return;
    const text = (about: string): string => `${this.#name} wants to reach ${about} (${kind}).`;
    const decision = await this.#asking.ask({ key: `network ${origin}`, about: origin, canAlways: true, text });
    if (decision === 'deny') return void this.#permissions.denied.add(origin);
    if (decision === 'always') return this.#permit('network', [origin]);
    this.#permissions.once.add(origin);
    this.#settle();
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

  #post(message: ToSdk, transfer: Transferable[] = []): boolean {
    return this.#frame.post([message], 'port', transfer);
  }

  #postVisible(): void {
    this.#post({ type: 'applet:visible', visible: this.#visibility.isVisible });
  }

  #postHtml(html: string): void {
    if (html) this.#post({ type: 'applet:html', html });
  }

  #heard(message: Exclude<FromSdk, ConsoleDropped>): void {
    switch (message.type) {
      case 'applet:size':
        this.#panels.showFrame();
        this.#measured = Math.min(message.height, MAX_HEIGHT);
        this.#applyHeight();
        break;
      case 'applet:failed':
        this.#panels.showError(message);
        break;
      case 'applet:blocked':
        void this.#showBlocked(message.url, message.directive);
        break;
      case 'applet:link':
        this.#panels.showBar(message.url, `Link to ${message.url}`);
        break;
      case 'applet:set-state':
        this.#state.set(message.data, this.#channel.isUp);
        break;
      case 'applet:state-seen':
        this.#state.seen(message.rev);
        break;
      case 'applet:call':
        void this.#call(message);
        break;
    }
  }

  async #call(call: SdkCall): Promise<void> {
    const { document } = this.#conversation;
    const isCurrent = (): boolean => document === this.#conversation.document;
    const reply: Reply = { type: 'applet:reply', id: call.id };
    let transfer: Transferable[] = [];
    try {
      const done = await this.#files.call(call, isCurrent);
      reply.value = done.value;
      ({ transfer } = done);
    } catch (error) {
      reply.error = error instanceof Error ? error.message : String(error);
      reply.code = codeOf(error);
    }
    if (isCurrent()) this.#post(reply, transfer);
  }

  #applyHeight(): void {
    const height = this.#content.height ?? this.#measured;
    this.#frame.element.style.height = typeof height === 'string' ? height : `${height}px`;
  }
}
