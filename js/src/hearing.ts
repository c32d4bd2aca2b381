/** Owns what the SDK of one view's applet says to the page alone: what it has shown, kept, and done for it. */

import type * as agentModule from './agent/page.js';
import { importText } from './bundles.js';
import { codeOf } from './channel/asked.js';
import type { Channel, ChannelView } from './channel/channel.js';
import type { Caller, Consent } from './consent.js';
import { shown } from './dom.js';
import { FileAccess } from './files/access.js';
import type { Conversation } from './frame/conversation.js';
import { type ConsoleDropped, type FromSdk, isFromSdk, type Reply, type SdkCall, type StateSet } from './frame/messages.js';
import type { Panels } from './panels.js';
import type { State } from './state.js';

/** An error may be a sentence or two. */
const MAX_ERROR = 400;

export interface Parts {
  view: ChannelView;
  channel(): Channel;
  panels: Panels;
  consent: Consent;
  state: State;
  conversation: Conversation;
  /** The content is so high. */
  measured(height: number): void;
  post(reply: Reply): void;
  loadText(name: string): Promise<string>;
}

export class Hearing {
  readonly #files: FileAccess;
  #endAgent = (): void => {};

  constructor(private readonly parts: Parts) {
    this.#files = new FileAccess(parts.view, parts.consent, parts.channel);
  }

  /** The document has gone, and with it what was decided and is done for it alone. */
  forget(): void {
    this.parts.consent.forget();
    this.#endAgent();
  }

  hear(message: Exclude<FromSdk, ConsoleDropped>): void {
    const { panels, consent, state, conversation, measured } = this.parts;
    switch (message.type) {
      case 'applet:size':
        measured(message.height);
        panels.showFrame();
        break;
      case 'applet:failed':
        panels.showError({ ...message, message: shown(`${message.where} ${message.message}`, MAX_ERROR) });
        break;
      case 'applet:blocked':
        void consent.blocked(message.url, message.directive);
        break;
      case 'applet:link':
        panels.showBar(`link ${message.url}`, `Link to ${shown(message.url)}`);
        break;
      case 'applet:set-state':
        state.set(message.data, conversation.revision);
        break;
      case 'applet:state-seen':
        state.seen(message.rev);
        break;
      case 'applet:call':
        void this.#answer(message);
        break;
    }
  }

  /** Of a document that is taken away: the state is all that it can still change. */
  hearLast(messages: unknown[], revision: number): void {
    const { state } = this.parts;
    for (const message of messages as Record<string, unknown>[]) {
      if (message?.['type'] !== 'applet:set-state' || !isFromSdk(message)) continue;
      state.set((message as unknown as StateSet).data, revision);
      state.started();
    }
  }

  async #answer(call: SdkCall): Promise<void> {
    const { conversation, post } = this.parts;
    const { document, revision } = conversation;
    const isCurrent = (): boolean => document === conversation.document;
    const reply = await this.#call(call, { revision, isCurrent }).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error), code: codeOf(error) }),
    );
    if (isCurrent()) post({ type: 'applet:reply', id: call.id, ...reply });
  }

  async #call(call: SdkCall, caller: Caller): Promise<unknown> {
    if (call.method !== 'agent') return this.#files.call(call, caller);
    const { connect, sdk } = (await importText(await this.parts.loadText('agent.js'))) as typeof agentModule;
    this.#endAgent();
    if (caller.isCurrent()) this.#endAgent = connect(call.args['port'], { ...this.parts, ...caller });
    return sdk();
  }
}
