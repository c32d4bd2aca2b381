/** Owns how turns become the rows of a chat's log: a person's or an applet's prompt, and the answer below it. */

import { estimateText } from './heights.js';
import type { Turn } from './transcript.js';

export interface Row {
  readonly key: string;
  readonly kind: 'prompt' | 'answer';
  readonly turn: Turn;
}

const known = new WeakMap<Turn, Row[]>();

function rowsOfTurn(turn: Turn): Row[] {
  let rows = known.get(turn);
  if (!rows) {
    rows = [];
    if (turn.prompt) rows.push({ key: `${turn.streamId} prompt`, kind: 'prompt', turn });
    if (turn.answer) rows.push({ key: `${turn.streamId} answer`, kind: 'answer', turn });
    known.set(turn, rows);
  }
  return rows;
}

export function rowsOf(turns: readonly Turn[]): Row[] {
  const rows: Row[] = [];
  for (const turn of turns) rows.push(...rowsOfTurn(turn));
  return rows;
}

export function estimateRow({ kind, turn: { prompt, answer } }: Row, width: number): number {
  if (kind === 'prompt') return 56 + estimateText(prompt?.text ?? '', width * 0.75) + (prompt?.image ? 200 : 0);
  return 24 + estimateText(answer?.text ?? '', width) * 1.2 + (answer?.calls.length ?? 0) * 34 + (answer?.outputs.length ?? 0) * 260;
}
