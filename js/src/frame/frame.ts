/** Owns one applet's frames and the ports into them: a new pair of ports for each document, the old pair closed. */

import type { Content } from '../protocol.gen.js';
import { appletDocument } from './document.js';
import type { Handover, SdkConfig, Theme, ThemeChanged } from './messages.js';
import { SANDBOX, outerDocument } from './outer.js';
import { contentPolicy } from './policy.js';

/** How long a document that left may take to come back (a reload), before it is taken for gone. */
const RELOAD_WAIT = 1000;

/** How long a document that was taken away is listened to. */
const LAST_WORDS = 1000;

/** How an applet speaks: through the SDK's port, or by itself with window messages that the outer frame relays. */
export type Way = 'port' | 'raw';

export interface FrameEvents {
  /** A document has started; whatever was asked of the one before will not be answered. */
  started(): void;
  /** A document has left, and may come back. */
  ended(): void;
  /** It did not: the frame holds no applet any more. */
  lost(): void;
  received(messages: unknown[], way: Way): void;
}

/** What a document is allowed, beyond its own bytes. */
export interface Allowed {
  origins: readonly string[];
  clipboard: boolean;
}

export class Frame {
  readonly element = document.createElement('iframe');
  #ports: Record<Way, MessagePort> | null = null;
  #left: ReturnType<typeof setTimeout> | undefined;
  #lastWords: (messages: unknown[]) => void = () => {};

  constructor(
    private readonly sdk: string,
    private readonly events: FrameEvents,
  ) {
    this.element.setAttribute('sandbox', SANDBOX);
  }

  /** Shows `content`, in place of what was there. `lastWords` takes what it says while it is taken away. */
  load(content: Content, config: Omit<SdkConfig, 'key'>, { origins, clipboard }: Allowed, lastWords: (messages: unknown[]) => void): void {
    this.#letGo();
    this.#lastWords = lastWords;
    window.addEventListener('message', this.#onMessage);
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const inner = appletDocument(content, { ...config, key }, this.sdk);
    this.setTitle(content.title);
    // A frame of no origin is named by the star alone.
    this.element.allow = clipboard ? 'clipboard-read *; clipboard-write *' : '';
    this.element.srcdoc = outerDocument(contentPolicy(origins), key, inner, this.element.allow);
  }

  /** False when there is no document to take the messages. */
  post(messages: unknown[], way: Way): boolean {
    this.#ports?.[way].postMessage(messages);
    return this.#ports !== null;
  }

  /** What a screen reader calls the frame. */
  setTitle(title: string | undefined): void {
    this.element.title = title || 'Applet';
  }

  setTheme(theme: Theme): void {
    this.post([{ type: 'applet:theme', theme } satisfies ThemeChanged], 'port');
  }

  /** Nothing is heard from the document any more, not even from one that it is replaced by; `load` starts anew. */
  stop(): void {
    window.removeEventListener('message', this.#onMessage);
    this.#closePorts();
  }

  /** Takes the document away. */
  clear(): void {
    this.#letGo();
    this.stop();
    this.element.removeAttribute('srcdoc');
  }

  dispose(): void {
    this.#letGo();
    this.stop();
    this.element.remove();
  }

  // The source is our own outer frame, whose code only we write; the applet cannot post in its name.
  readonly #onMessage = ({ source, data }: MessageEvent): void => {
    if (source === null || source !== this.element.contentWindow) return;
    if (data?.type === 'applet:hello') this.#handOver(source as Window);
    if (data?.type === 'applet:leaving') {
      this.#closePorts();
      this.#left = setTimeout(() => this.events.lost(), RELOAD_WAIT);
      this.events.ended();
    }
  };

  #handOver(outer: Window): void {
    this.#closePorts();
    const sdk = new MessageChannel();
    const relay = new MessageChannel();
    this.#ports = { port: this.#listen(sdk.port1, 'port'), raw: this.#listen(relay.port1, 'raw') };
    this.events.started();
    outer.postMessage({ type: 'applet:port' } satisfies Handover, '*', [sdk.port2, relay.port2]);
  }

  #listen(port: MessagePort, way: Way): MessagePort {
    port.onmessage = ({ data }) => {
      if (Array.isArray(data)) this.events.received(data, way);
    };
    return port;
  }

  /** A document that is taken away runs its cleanup, and may say something in it: that is still heard. */
  #letGo(): void {
    const [ports, lastWords] = [this.#ports, this.#lastWords];
    this.#ports = null;
    this.#closePorts();
    if (!ports) return;
    ports.port.onmessage = ({ data }) => Array.isArray(data) && lastWords(data);
    ports.raw.close();
    setTimeout(() => ports.port.close(), LAST_WORDS);
  }

  #closePorts(): void {
    this.#ports?.port.close();
    this.#ports?.raw.close();
    this.#ports = null;
    clearTimeout(this.#left);
  }
}
