/** Owns an applet's file calls: done by its channel, and, where a person has to agree, asked about. */

import { AskError } from '../channel/asked.js';
import type { Channel, ChannelView } from '../channel/channel.js';
import type { Caller, Consent, Need } from '../consent.js';
import { shown } from '../dom.js';
import type { SdkCall } from '../frame/messages.js';
import type { Asker } from './service.js';

type Verb = 'read' | 'write';

export class FileAccess {
  constructor(
    private readonly view: ChannelView,
    private readonly consent: Pick<Consent, 'name' | 'try'>,
    private readonly channel: () => Channel,
  ) {}

  async call({ method, args }: SdkCall, { revision, isCurrent }: Caller): Promise<unknown> {
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

  #try(verb: Verb, path: string, isCurrent: () => boolean, attempt: (consent: boolean) => Promise<unknown>): Promise<unknown> {
    const needs = (code: string): Need | null =>
      code === 'PERMISSION_NEEDED' ? this.#files(verb, path) : code === 'CONSENT_NEEDED' ? this.#overwrite(path) : null;
    return this.consent.try(isCurrent, needs, attempt);
  }

  #files(verb: Verb, path: string): Need {
    const what = verb === 'read' ? 'read' : 'change';
    const about = path === '' || path === '.' ? 'the list of files' : shown(path);
    const text = (paths: string): string => `${this.consent.name} wants to ${what} ${paths}.`;
    return { key: `files ${verb}`, what: path, about, text, note: 'Always and Deny hold for all files.', keeps: ['files', verb] };
  }

  #overwrite(path: string): Need {
    const text = (paths: string): string => `${this.consent.name} wants to overwrite ${paths}, which it has not read.`;
    return { key: `overwrite ${path}`, what: path, about: shown(path), text };
  }
}
