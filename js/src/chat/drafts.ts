/** Owns what a person has begun to write, per session: a cell that is moved, or a page that is reloaded, keeps it. */

export interface Draft {
  text: string;
  /** A data URL, and what to call it. */
  image: { url: string; name: string } | null;
}

const drafts = new Map<string, Draft>();
const slot = (session: string): string => `jupyter-applets-draft:${session}`;

export function readDraft(session: string): Draft {
  const kept = drafts.get(session);
  if (kept) return kept;
  try {
    return { text: sessionStorage.getItem(slot(session)) ?? '', image: null };
  } catch {
    return { text: '', image: null };
  }
}

export function keepDraft(session: string, draft: Draft): void {
  drafts.set(session, draft);
  try {
    if (draft.text) sessionStorage.setItem(slot(session), draft.text);
    else sessionStorage.removeItem(slot(session));
  } catch {
    // A page without storage keeps it until it is left.
  }
}
