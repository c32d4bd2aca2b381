/**
 * Owns an applet's file calls: done by its channel, and, where a person has to agree, asked, then done again.
 * The host decides what needs whom; this only carries the question and the answer.
 */

import type { Asking, Decision, Wish } from '../asking.js';
import { AskError, codeOf } from '../channel/asked.js';
import type { Channel, ChannelView } from '../channel/channel.js';
import type { SdkCall } from '../frame/messages.js';
import type { Json } from '../protocol.gen.js';

export interface Done {
  value: unknown;
  transfer: Transferable[];
}

export interface AccessEvents {
  channel(): Channel;
  /** What the person knows the applet by. */
  name(): string;
  /** Keeps a decision; resolves when the host has it. */
  permit(permission: string, value: Json): Promise<void>;
}

type Attempt = (consent: boolean) => Promise<Done>;
type Verb = 'read' | 'write';

const plain = (value: unknown): Done => ({ value, transfer: [] });

export class FileAccess {
  constructor(
    private readonly view: ChannelView,
    private readonly asking: Asking,
    private readonly events: AccessEvents,
  ) {}

  /** What the SDK is to be replied. `isCurrent` is asked before anything is done for a document that may have gone. */
  async call({ method, args }: SdkCall, isCurrent: () => boolean): Promise<Done> {
    const { windowId } = this.view;
    const { path, content, ifMatch } = args;
    if (typeof path !== 'string') throw new AskError('INVALID_ARGUMENTS', `${method}: the path has to be a string.`);
    const { files } = this.events.channel();
    switch (method) {
      case 'readFile':
        return this.#try('read', path, isCurrent, async (consent) => {
          const read = await files.read(windowId, path, consent);
          return { value: read, transfer: [read.bytes] };
        });
      case 'listFiles':
        return this.#try('read', path, isCurrent, async (consent) => plain({ files: await files.list(windowId, path, consent) }));
      case 'writeFile': {
        if (typeof content !== 'string' && !(content instanceof ArrayBuffer)) {
          throw new AskError('INVALID_ARGUMENTS', 'writeFile: the content has to be a string or an ArrayBuffer.');
        }
        const file = { path, content, ...(typeof ifMatch === 'string' ? { ifMatch } : {}) };
        return this.#try('write', path, isCurrent, async (consent) => plain({ version: await files.write(windowId, file, consent) }));
      }
      case 'subscribeFile':
        return this.#try('read', path, isCurrent, async (consent) => plain((await this.events.channel().subscribe(this.view, path, consent)) ?? null));
      case 'unsubscribeFile':
        this.events.channel().unsubscribe(this.view, path);
        return plain(null);
      default:
        throw new AskError('INVALID_ARGUMENTS', `There is no ${String(method)}.`);
    }
  }

  async #try(verb: Verb, path: string, isCurrent: () => boolean, attempt: Attempt): Promise<Done> {
    try {
      return await attempt(false);
    } catch (error) {
      const code = codeOf(error);
      if (!isCurrent() || (code !== 'PERMISSION_NEEDED' && code !== 'CONSENT_NEEDED')) throw error;
      const wish = code === 'CONSENT_NEEDED' ? this.#overwrite(path) : this.#files(verb, path);
      const decision = await this.asking.ask(wish);
      return this.#decided(decision, code, verb, wish, attempt, () => this.#try(verb, path, isCurrent, attempt));
    }
  }

  async #decided(decision: Decision, code: string, verb: Verb, { text, about }: Wish, attempt: Attempt, again: () => Promise<Done>): Promise<Done> {
    if (decision === 'once') return attempt(true);
    if (decision === 'always') {
      await this.events.permit('files', verb);
      return again();
    }
    // No is remembered by the host, so that an applet does not ask again and again.
    if (code === 'PERMISSION_NEEDED') await this.events.permit('files', false).catch(() => {});
    throw new AskError('PERMISSION_DENIED', `${text(about)} A person said no.`);
  }

  #files(verb: Verb, path: string): Wish {
    const what = verb === 'read' ? 'read' : 'change';
    const about = path === '' || path === '.' ? 'the list of files' : path;
    return { key: `files ${verb}`, about, canAlways: true, text: (paths) => `${this.events.name()} wants to ${what} ${paths}.` };
  }

  #overwrite(path: string): Wish {
    const text = (paths: string): string => `${this.events.name()} wants to overwrite ${paths}, which it has not read.`;
    return { key: `overwrite ${path}`, about: path, canAlways: false, text };
  }
}
