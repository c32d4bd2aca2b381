/** A view in a page without frames: a pipe to play its host, and a port to play its document. */

import { expect, vi } from 'vitest';
import { Channel } from '../src/channel/channel.js';
import type { Content, Json } from '../src/protocol.gen.js';
import { View } from '../src/view.js';
import { FakePipe } from './channel/fakes.js';

const outer = { postMessage: vi.fn() };

/** Messages of a port take their time. */
export const passed = (until: () => boolean): Promise<void> => vi.waitFor(() => expect(until()).toBe(true));

/** What the outer frame says in the name of a document. */
export const greet = (type: 'applet:hello' | 'applet:leaving'): boolean =>
  window.dispatchEvent(Object.assign(new Event('message'), { source: outer, data: { type } }));

/** There is no layout here: buttons stand as far down as this says, and may be below something. */
export const layout = { top: 0, isCovered: false };

HTMLButtonElement.prototype.getBoundingClientRect = () => new DOMRect(0, layout.top, 40, 20);
HTMLButtonElement.prototype.getRootNode = function () {
  return { elementFromPoint: () => (layout.isCovered ? null : this) } as unknown as Node;
};

export class Viewing {
  pipe!: FakePipe;
  readonly view: View;
  /** What the applet's document was sent. */
  posted: any[] = [];
  #port: MessagePort | null = null;

  constructor(
    content: Content = { html: 'one' },
    revision = 1,
    private readonly patience: number | null = null,
  ) {
    outer.postMessage.mockReset();
    Object.assign(layout, { top: 0, isCovered: false });
    let current: Channel | null = this.open();
    this.view = new View({
      viewId: 'v',
      windowId: 'w',
      revision,
      content,
      sdk: '',
      channel: () => {
        const given = current ?? this.open();
        current = null;
        return given;
      },
      fallBack: () => this.open(),
      loadText: (name) => Promise.resolve(`text of ${name}`),
    });
    Object.defineProperty(this.frame, 'contentWindow', { value: outer });
  }

  open(): Channel {
    this.pipe = new FakePipe(this.patience);
    const channel = new Channel({ session: 's', version: '0', id: 'page' }, this.pipe, () => {});
    this.pipe.events.opened();
    return channel;
  }

  // ---- the host

  hear(...messages: object[]): void {
    this.pipe.events.received(messages);
  }

  tell(fields: object = {}): void {
    this.hear({ type: 'windowContent', windowId: 'w', viewId: 'v', revision: 1, ...fields });
  }

  async sent(): Promise<any[]> {
    await Promise.resolve();
    return this.pipe.take().flat();
  }

  async types(): Promise<string[]> {
    return (await this.sent()).map(({ type }) => type);
  }

  /** The next message of that type, which the page may take a while to send. */
  async next(type: string): Promise<any> {
    const found = (): any => this.pipe.frames.flat().find((message) => (message as { type: string }).type === type);
    await passed(() => found() !== undefined);
    const message = found();
    this.pipe.take();
    return message;
  }

  // ---- the document

  start(): void {
    const own: any[] = [];
    this.posted = own;
    greet('applet:hello');
    const port: MessagePort = outer.postMessage.mock.lastCall?.[2][0];
    port.onmessage = ({ data }) => own.push(...data);
    this.#port = port;
  }

  say(...messages: object[]): void {
    this.sayWith([], ...messages);
  }

  sayWith(transfer: MessagePort[], ...messages: object[]): void {
    this.#port?.postMessage(messages, transfer);
  }

  async gets(type: string): Promise<any> {
    await passed(() => this.posted.some((message) => message.type === type));
    return this.posted.find((message) => message.type === type);
  }

  /** What the document was made with. */
  get config(): Record<string, Json> {
    const inner = /srcdoc="([^]*)"><\/iframe>/.exec(this.frame.srcdoc)?.[1]?.replace(/&quot;/g, '"').replace(/&amp;/g, '&') ?? '';
    return JSON.parse(/\}\)\(({[^]*?})\)\/\/# sourceURL/.exec(inner)?.[1] ?? 'null');
  }

  // ---- the person

  get frame(): HTMLIFrameElement {
    return this.view.element.querySelector('iframe') as HTMLIFrameElement;
  }

  get bars(): string[] {
    return [...this.view.element.querySelectorAll('.jupyter-applet-bar span')].map(({ textContent }) => textContent ?? '');
  }

  /** When the question has been there for long enough. */
  choose(label: string): void {
    vi.advanceTimersByTime(500);
    this.button(label).click();
  }

  button(label: string): HTMLButtonElement {
    const found = [...this.view.element.querySelectorAll('button')].find(({ textContent }) => textContent === label);
    if (!found) throw new Error(`There is no button ${label}.`);
    return found;
  }
}
