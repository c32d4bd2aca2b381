/** Owns what a person decides about one view's applet: the questions, the answers to the host, and taking them back. */

import { Asking } from './asking.js';
import type { Channel } from './channel/channel.js';
import { shown } from './dom.js';
import { Grants } from './grants.js';
import type { Panels } from './panels.js';
import { blockedLoad, describe, type Granted, Permissions } from './permissions.js';
import type { Content, Json } from './protocol.gen.js';
import { runPanel } from './run-panel.js';

/** A person is not asked at once whether an applet may run: the kernel may vouch for it just after. */
const ASK_DELAY = 300;

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
