/** Owns what a person decides about one view's applet: the questions, the answers to the host, and taking them back. */

import { Asking, type Wish } from './asking.js';
import { AskError, codeOf } from './channel/asked.js';
import type { Channel } from './channel/channel.js';
import { shown } from './dom.js';
import { Grants } from './grants.js';
import type { Panels } from './panels.js';
import { blockedLoad, describe, type Granted, Permissions } from './permissions.js';
import type { Content, Json } from './protocol.gen.js';
import { runPanel } from './run-panel.js';

/** A person is not asked at once whether an applet may run: the kernel may vouch for it just after. */
const ASK_DELAY = 300;

/** `keeps` is what the host is to remember when the person decides for good; without it, a no holds for this document. */
export interface Need extends Omit<Wish, 'canAlways'> {
  keeps?: [permission: string, value: Json];
}

/** The document that calls. */
export interface Caller {
  /** Of the content that it shows. */
  revision: number;
  /** Asked before anything is done for a document that may have gone. */
  isCurrent(): boolean;
}

export interface ConsentEvents {
  channel(): Channel;
  /** What the person knows the applet by. */
  name(): string;
  /** What a document is allowed is another than it was. */
  changed(): void;
}

export class Consent {
  readonly permissions = new Permissions();
  readonly asking: Asking;
  readonly #grants: Grants;
  /** What a person would not have: the document is not to ask again and again. */
  readonly #denied = new Set<string>();
  #asked: Content | null = null;
  #askTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly windowId: string,
    private readonly panels: Panels,
    private readonly events: ConsentEvents,
  ) {
    this.asking = new Asking(panels, () => events.changed());
    this.#grants = new Grants(panels.root, (permission) => void this.#takeBack(permission));
  }

  get name(): string {
    return this.events.name();
  }

  /** What the host says that people have decided. */
  setGranted(granted: Granted): void {
    // What was taken back elsewhere, by the kernel or in another view, is not said here any more.
    for (const permission of Object.keys(this.permissions.granted)) if (!granted[permission]) this.panels.removeBar(`granted ${permission}`);
    this.permissions.granted = granted;
    this.#grants.show(granted);
  }

  /** Has a decision kept; resolves when the host has it, and has told it to the views. */
  async permit(permission: string, value: Json): Promise<void> {
    const { windowId } = this;
    await this.events.channel().ask({ type: 'permit', windowId, permission, value });
    // What is allowed may be more than it was.
    this.panels.removeBar(`granted ${permission}`);
    if (value !== false) this.panels.showBar(`granted ${permission}`, describe(permission, value), [['Take back', () => this.#takeBack(permission)]]);
  }

  /** Another document: what was said of the one before does not hold for it. */
  forget(): void {
    this.#denied.clear();
    this.asking.drop();
  }

  /**
   * Does what a person may have to agree to. The host decides what needs whom: where it says so, they are asked, and it is done
   * again. `needs` gives the question that goes with an error's code, if one does.
   */
  async try<T>(isCurrent: () => boolean, needs: (code: string) => Need | null, attempt: (consent: boolean) => Promise<T>): Promise<T> {
    try {
      return await attempt(false);
    } catch (error) {
      const need = needs(codeOf(error));
      if (!need || !isCurrent()) throw error;
      const { key, keeps } = need;
      const decision = this.#denied.has(key) ? 'deny' : await this.asking.ask({ ...need, canAlways: !!keeps });
      if (decision === 'unasked') throw error;
      if (decision === 'once') return attempt(true);
      if (decision === 'always' && keeps) {
        await this.permit(...keeps);
        return this.try(isCurrent, needs, attempt);
      }
      // No is remembered, where it can be by the host, so that an applet does not ask again and again.
      if (keeps) await this.permit(keeps[0], false).catch(() => {});
      else this.#denied.add(key);
      throw new AskError('PERMISSION_DENIED', `${need.text(need.about)} A person said no.`);
    }
  }

  /** In place of the frame. Asking again changes nothing, unless it is about another content. */
  askToRun(content: Content, run: () => void): void {
    if (this.#asked === content) return;
    this.askNoMore();
    this.#asked = content;
    const always = (): void => {
      run();
      void this.#keeps('run', true);
    };
    this.#askTimer = setTimeout(() => this.panels.showInstead(runPanel(content, run, always)), ASK_DELAY);
  }

  askNoMore(): void {
    clearTimeout(this.#askTimer);
    this.#asked = null;
  }

  /** The policy stopped a load. */
  async blocked(url: string, directive: string): Promise<void> {
    const { origin, kind } = blockedLoad(url, directive);
    if (!origin) return this.panels.showBar(`blocked ${url}`, `Blocked: ${shown(url)} (${kind})`);
    if (this.permissions.denied.has(origin) || this.permissions.granted['network'] === false) return;
    const text = (about: string): string => `${this.name} wants to reach ${about} (${kind}).`;
    const decision = await this.asking.ask({ key: `network ${origin}`, what: origin, about: shown(origin), canAlways: true, text });
    if (decision === 'unasked') return;
    if (decision === 'deny') return void this.permissions.denied.add(origin);
    if (decision === 'always' && (await this.#keeps('network', [origin]))) return;
    this.permissions.once.add(origin);
    this.events.changed();
  }

  /** Says so when a decision could not be kept: then it holds here, and for now. */
  async #keeps(permission: string, value: Json): Promise<boolean> {
    try {
      await this.permit(permission, value);
      return true;
    } catch (error) {
      this.panels.showBar(`lost ${permission}`, `This holds for now, but could not be kept: ${(error as Error).message}`);
      return false;
    }
  }

  async #takeBack(permission: string): Promise<void> {
    const { windowId } = this;
    try {
      await this.events.channel().ask({ type: 'revoke', windowId, permission });
      this.panels.removeBar(`granted ${permission}`);
    } catch (error) {
      this.panels.showBar(`revoke ${permission}`, `It could not be taken back: ${(error as Error).message}`);
    }
  }
}
