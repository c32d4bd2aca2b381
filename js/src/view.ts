/** One view: shows a window's content in a frame, and stands for it to the channel. */

import type { Channel, ChannelView } from './channel/channel.js';
import { Conversation } from './frame/conversation.js';
import { Frame } from './frame/frame.js';
import type { ConsoleDropped, FromSdk } from './frame/messages.js';
import { listedNetwork, policyOrigin } from './frame/policy.js';
import { readTheme, watchTheme } from './frame/theme.js';
import { Panels } from './panels.js';
import type { AppProtocolRequest, Content, FromPage, ViewState } from './protocol.gen.js';
import { FILL_HEIGHT, MAX_HEIGHT } from './sdk/size.js';

export interface ViewOptions {
  viewId: string;
  windowId: string;
  revision: number;
  content: Content;
  /** The channel to use from now on: one without views ends after a while. */
  channel(): Channel;
  /** The text that runs first in the applet's document. */
  sdk: string;
  /** Another channel, when there is no host behind the first. */
  fallBack(): Channel;
  /** The user allowed what the content's permissions did not list. */
  permit(permissions: Record<string, unknown>): void;
}

/** What a listed origin opens, by the policy's name for it. Frames, for one, stay closed to everybody. */
const KINDS: Record<string, string> = {
  connect: 'data',
  font: 'fonts',
  img: 'images',
  media: 'media',
  script: 'scripts',
  style: 'styles',
};

/** Null for 'inline', 'eval' and the like: nothing that could be allowed. */
const originOf = (url: string): string | null => policyOrigin(/^\w+:\/\/[^/?#]+/.exec(url)?.[0]);

/** The parts of a content that make the document: a change of them needs another one. */
const documentOf = ({ html, js, css, permissions, modules }: Content): string =>
  JSON.stringify([html ?? '', js ?? '', css ?? '', permissions ?? {}, modules ?? {}]);

export class View implements ChannelView {
  readonly viewId: string;
  readonly windowId: string;
  readonly #frame: Frame;
  readonly #panels: Panels;
  readonly #conversation: Conversation;
  readonly #options: ViewOptions;
  readonly #unwatchTheme: () => void;
  #channel: Channel;
  #content: Content;
  #revision: number;
  /** The height of the content, as the applet last told it. */
  #measured = FILL_HEIGHT;
  #isClosed = false;

  constructor(options: ViewOptions) {
    ({ viewId: this.viewId, windowId: this.windowId, content: this.#content, revision: this.#revision } = options);
    this.#options = options;
    this.#channel = options.channel();
    this.#frame = new Frame(options.sdk, {
      started: () => {
        this.#panels.clearError();
        this.#conversation.begin(this.#revision);
        // What the document was made with may be old: it can reload by itself, as it was made.
        this.#frame.setTheme(readTheme());
      },
      ended: () => this.#endDocument('The applet left or reloaded its page while the request was under way.'),
      lost: () => this.#showLost(),
      received: (messages, way) => this.#conversation.receive(messages, way),
    });
    this.#conversation = new Conversation(this.viewId, this.windowId, {
      post: (requests, way) => this.#frame.post(requests, way),
      send: (messages) => this.#channel.send(messages),
      heard: (message) => this.#heard(message),
    });
    this.#panels = new Panels(this.#frame.element);
    this.#unwatchTheme = watchTheme((theme) => this.#frame.setTheme(theme));
    this.#load();
    this.#channel.attach(this);
  }

  get element(): HTMLElement {
    return this.#panels.root;
  }

  dispose(): void {
    this.#conversation.end('The view was closed while the request was under way.');
    this.#channel.detach(this.viewId);
    this.#unwatchTheme();
    this.#frame.dispose();
    this.#panels.root.remove();
  }

  // ---- for the channel

  state(): ViewState {
    const { document, ready, manifest, hydrates, snapshot } = this.#conversation;
    const { viewId, windowId } = this;
    const title = this.#content.title ?? '';
    return { viewId, windowId, revision: this.#revision, document, ready, manifest, hydrates, snapshot, title };
  }

  request(requests: AppProtocolRequest[]): void {
    this.#conversation.request(requests);
  }

  /** A higher revision is another applet, even with the same text. In the same one, only what changed is done. */
  showContent(revision: number, content: Content): void {
    if (revision < this.#revision) return;
    const isNewer = revision > this.#revision;
    const isNew = isNewer || documentOf(content) !== documentOf(this.#content);
    this.#revision = revision;
    this.#content = content;
    if (this.#isClosed) {
      if (isNewer) this.#reopen();
      return;
    }
    if (isNew) return this.#reload();
    this.#frame.setTitle(content.title);
    this.#applyHeight();
  }

  /** Its picture stays, but it says nothing more: whatever a view says would bring the window back at the host. */
  showClosed(): void {
    this.#isClosed = true;
    this.#conversation.end('The window was closed while the request was under way.');
    this.#channel.detach(this.viewId);
    this.#frame.stop();
    // An error may have a button, which would start the applet again.
    this.#panels.clearError();
    this.#panels.showClosed();
  }

  showRefusal(message: string): void {
    this.#panels.showRefusal(message);
  }

  unreachable(kept: FromPage[]): void {
    this.#channel = this.#options.fallBack();
    this.#channel.attach(this);
    this.#channel.send(kept);
  }

  // ---- the frame

  #reload(): void {
    this.#endDocument('The applet got new content while the request was under way.');
    this.#load();
  }

  #reopen(): void {
    this.#isClosed = false;
    this.#load();
    this.#channel = this.#options.channel();
    this.#channel.attach(this);
  }

  #load(): void {
    this.#panels.clearError();
    this.#panels.clearBars();
    this.#panels.showLoading();
    const network = listedNetwork(this.#content.permissions ?? {});
    this.#measured = FILL_HEIGHT;
    this.#applyHeight();
    this.#frame.load(this.#content, network.origins, readTheme());
    for (const entry of network.refused) {
      this.#panels.showBar(entry, `permissions["network"]: ${entry} is not an origin such as https://example.com, and was ignored.`);
    }
  }

  /** The host has to know: what shows is another revision, or nothing that could answer. */
  #endDocument(reason: string): void {
    this.#conversation.end(reason);
    this.#channel.send([{ type: 'viewOpened', view: this.state() }]);
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
        this.#showBlocked(message.url, message.directive);
        break;
      case 'applet:link':
        this.#panels.showBar(message.url, `Link to ${message.url}`);
        break;
    }
  }

  #applyHeight(): void {
    const height = this.#content.height ?? this.#measured;
    this.#frame.element.style.height = typeof height === 'string' ? height : `${height}px`;
  }

  #showBlocked(url: string, directive: string): void {
    const what = directive.replace(/-src.*$/, '');
    const origin = what in KINDS ? originOf(url) : null;
    if (origin) this.#panels.showBar(origin, `This applet wants to reach ${origin} (${KINDS[what]}).`, ['Allow', () => this.#allow(origin)]);
    else this.#panels.showBar(url, `Blocked: ${url} (${what})`);
  }

  #allow(origin: string): void {
    const permissions = this.#content.permissions ?? {};
    const { origins } = listedNetwork(permissions);
    this.#content = { ...this.#content, permissions: { ...permissions, network: [...origins, origin] } };
    this.#reload();
    this.#options.permit(this.#content.permissions ?? {});
  }

  #showLost(): void {
    this.#panels.showLost();
    this.#panels.clearError();
    this.#panels.showError({
      message: 'The applet tried to leave its page, which an applet cannot do.',
      action: ['Start again', () => this.#reload()],
    });
  }
}
