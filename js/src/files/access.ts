/**
 * Owns an applet's file calls: done by its channel, and, where a person has to agree, asked, then done again.
 * The host decides what needs whom; this only carries the question and the answer.
 */

import type { Wish } from '../asking.js';
import { AskError, codeOf } from '../channel/asked.js';
import type { Channel, ChannelView } from '../channel/channel.js';
import type { Consent } from '../consent.js';
import { shown } from '../dom.js';
import type { Reply, SdkCall } from '../frame/messages.js';
import type { Asker } from './service.js';

type Attempt = (consent: boolean) => Promise<unknown>;
type Verb = 'read' | 'write';

/** The document that calls. */
export interface Caller {
  /** Of the content that it shows. */
  revision: number;
  /** Asked before anything is done for a document that may have gone. */
  isCurrent(): boolean;
}

export class FileAccess {
  /** What a person would not have overwritten: the document is not to ask again and again. */
  readonly #denied = new Set<string>();

  constructor(
    private readonly view: ChannelView,
    private readonly consent: Pick<Consent, 'name' | 'permit' | 'asking'>,
    private readonly channel: () => Channel,
  ) {}

  /** Another document: what was said of the one before does not hold for it. */
  forget(): void {
    this.#denied.clear();
  }

  async answer(call: SdkCall, caller: Caller): Promise<Reply> {
    const to = { type: 'applet:reply', id: call.id } as const;
    try {
      return { ...to, value: await this.#call(call, caller) };
    } catch (error) {
      return { ...to, error: error instanceof Error ? error.message : String(error), code: codeOf(error) };
    }
  }

  async #call({ method, args }: SdkCall, { revision, isCurrent }: Caller): Promise<unknown> {
    const { viewId, windowId } = this.view;
    const by = (consent: boolean): Asker => ({ windowId, revision, consent });
    const { path, content, ifMatch } = args;
    if (typeof path !== 'string') throw new AskError('INVALID_ARGUMENTS', `${method}: the path has to be a string.`);
    const { files } = this.channel();
    switch (method) {
      case 'readFile':
        return this.#try('read', path, isCurrent, (consent) => files.read(by(consent), path));
      case 'listFiles':
        return this.#try('read', path, isCurrent, async (consent) => ({ files: await files.list(by(consent), path) }));
      case 'writeFile': {
        if (typeof content !== 'string' && !(content instanceof ArrayBuffer)) {
          throw new AskError('INVALID_ARGUMENTS', 'writeFile: the content has to be a string or an ArrayBuffer.');
        }
        const file = { path, content, ...(typeof ifMatch === 'string' ? { ifMatch } : {}) };
        return this.#try('write', path, isCurrent, async (consent) => ({ version: await files.write(by(consent), file) }));
      }
      case 'subscribeFile':
        return this.#try('read', path, isCurrent, async (consent) => (await this.channel().subscribe(viewId, by(consent), path)) ?? null);
      case 'unsubscribeFile':
        this.channel().unsubscribe(this.view, path);
        return null;
      default:
        throw new AskError('INVALID_ARGUMENTS', `There is no ${String(method)}.`);
    }
  }

  async #try(verb: Verb, path: string, isCurrent: () => boolean, attempt: Attempt): Promise<unknown> {
    try {
      return await attempt(false);
    } catch (error) {
      const code = codeOf(error);
      if (!isCurrent() || (code !== 'PERMISSION_NEEDED' && code !== 'CONSENT_NEEDED')) throw error;
      const isOverwrite = code === 'CONSENT_NEEDED';
      const wish = isOverwrite ? this.#overwrite(path) : this.#files(verb, path);
      const decision = this.#denied.has(wish.key) ? 'deny' : await this.consent.asking.ask(wish);
      if (decision === 'unasked') throw error;
      if (decision === 'once') return attempt(true);
      if (decision === 'always') {
        await this.consent.permit('files', verb);
        return this.#try(verb, path, isCurrent, attempt);
      }
      // No is remembered, of all files by the host, so that an applet does not ask again and again.
      if (isOverwrite) this.#denied.add(wish.key);
      else await this.consent.permit('files', false).catch(() => {});
      throw new AskError('PERMISSION_DENIED', `${wish.text(wish.about)} A person said no.`);
    }
  }

  #files(verb: Verb, path: string): Wish {
    const what = verb === 'read' ? 'read' : 'change';
    const about = path === '' || path === '.' ? 'the list of files' : shown(path);
    const text = (paths: string): string => `${this.consent.name} wants to ${what} ${paths}.`;
    return { key: `files ${verb}`, what: path, about, canAlways: true, text, note: 'Always and Deny hold for all files.' };
  }

  #overwrite(path: string): Wish {
    const text = (paths: string): string => `${this.consent.name} wants to overwrite ${paths}, which it has not read.`;
    return { key: `overwrite ${path}`, what: path, about: shown(path), canAlways: false, text };
  }
}
