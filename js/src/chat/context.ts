/** What the parts of a chat have in common: its session, and which of them a person has opened. */

import type { Session } from './session.js';

export interface Context {
  readonly session: Session;
  /** By id: a part that is scrolled out of view is gone, and comes back as it was left. */
  readonly opened: Set<string>;
  /** The log, while there is one. */
  log: LogControls | null;
}

export interface LogControls {
  /** A person opens or closes something: what is above stays where it is. */
  hold(): void;
  /** To the newest message, and stay there. */
  toEnd(): void;
}
