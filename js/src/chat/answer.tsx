/** Owns an agent's answer on the page: its text as it grows, tools, outputs, what it waits for, and what went wrong. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { decorateCode } from './code.js';
import type { Context } from './context.js';
import { type Block, renderWhole, StreamedMarkdown } from './markdown.js';
import { OutputView } from './outputs.js';
import { sanitizeMarkdown } from './sanitize.js';
import { ToolView } from './tools.js';
import type { Answer } from './transcript.js';

/** A text that takes long to render is rendered less often: the page stays free for most of the time. */
const SHARE = 4;

/** Answers that were rendered, for when they are scrolled back into view. */
const whole = new WeakMap<Answer, Block[]>();

function blocksOf(answer: Answer): Block[] {
  let blocks = whole.get(answer);
  if (!blocks) whole.set(answer, (blocks = renderWhole(answer.text)));
  return blocks;
}

function BlockView({ html, settled }: Block) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const content = sanitizeMarkdown(html);
    decorateCode(content, settled);
    place.current?.replaceChildren(content);
  }, [html, settled]);
  return <div class="jac-block" ref={place} />;
}

function useBlocks(answer: Answer): Block[] {
  const { text, status } = answer;
  const stream = useRef<{ markdown: StreamedMarkdown; blocks: Block[]; text: string; begunAt: number; freeAt: number } | null>(null);
  const [, again] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLayoutEffect(() => {
    const state = stream.current;
    if (!state?.begunAt) return;
    const { begunAt } = state;
    state.begunAt = 0;
    // After this rendering as a whole: what was sanitized and laid out costs more than the markdown.
    queueMicrotask(() => {
      const now = performance.now();
      // Half a frame is free; the rest of what it costs is paid for by waiting.
      state.freeAt = now - begunAt > 8 ? now + (now - begunAt) * SHARE : 0;
    });
  });
  if (status === 'done') return blocksOf(answer);
  const now = performance.now();
  const state = (stream.current ??= { markdown: new StreamedMarkdown(), blocks: [], text: '', begunAt: 0, freeAt: 0 });
  if (state.text === text) return state.blocks;
  clearTimeout(timer.current);
  if (now < state.freeAt) {
    timer.current = setTimeout(() => again((n) => n + 1), state.freeAt - now);
    return state.blocks;
  }
  state.blocks = state.markdown.update(text);
  state.text = text;
  state.begunAt = now;
  return state.blocks;
}

function Waiting({ answer, streamId, context }: { answer: Answer; streamId: string; context: Context }) {
  if (answer.status === 'queued' || answer.note) {
    return (
      <div class="jac-note" role="status">
        <span class="jac-spinner" aria-hidden="true" />
        <span>{answer.note || 'Queued'}</span>
        {answer.status === 'queued' && (
          <button type="button" class="jac-link" onClick={() => void context.session.stop(streamId)}>
            Cancel
          </button>
        )}
      </div>
    );
  }
  if (answer.text || answer.calls.some(({ done }) => !done)) return null;
  return (
    <div class="jac-dots" role="status" aria-label="The agent is answering">
      <span />
      <span />
      <span />
    </div>
  );
}

export function AnswerView({ answer, streamId, context }: { answer: Answer; streamId: string; context: Context }) {
  const blocks = useBlocks(answer);
  const isDone = answer.status === 'done';
  const text = useMemo(
    () => (
      <div class="jac-text">
        {blocks.map((block, i) => (
          <BlockView key={i} {...block} />
        ))}
      </div>
    ),
    [blocks],
  );
  return (
    <div class={`message assistant${answer.error === null ? '' : ' failed'}`} role="article" aria-busy={isDone ? undefined : 'true'}>
      <span class="jac-hidden">Agent said: </span>
      {answer.calls.map((call) => (
        <ToolView key={call.id} id={`${streamId} ${call.id}`} call={call} context={context} />
      ))}
      {blocks.length > 0 && text}
      {answer.outputs.map((output) => (
        <OutputView key={output.name} output={output} context={context} />
      ))}
      {!isDone && <Waiting answer={answer} streamId={streamId} context={context} />}
      {answer.error !== null && (
        <div class="jac-error" role="alert">
          {answer.error || 'The agent did not answer.'}
        </div>
      )}
      {isDone && answer.error === null && !answer.text && !answer.calls.length && !answer.outputs.length && <div class="jac-empty">No answer.</div>}
    </div>
  );
}
