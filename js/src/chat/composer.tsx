/** Owns where a person writes: the text, an image with it, the history behind the up key, and sending and stopping. */

import type { TargetedEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Draft, keepDraft, readDraft } from './drafts.js';
import { InputHistory, isAtEdge } from './history.js';
import { AttachIcon, SendIcon, StopIcon } from './icons.js';
import { ACCEPTED, imageIn, imageUrl } from './images.js';
import type { Session } from './session.js';

const EMPTY: Draft = { text: '', image: null };
const MAX_HEIGHT = 8 * 20 + 16;

interface Props {
  session: Session;
  isRunning: boolean;
  agent: string | null;
  sent: () => void;
}

function useDraft(session: Session): [Draft, (change: (draft: Draft) => Draft) => void] {
  const [draft, setDraft] = useState(() => readDraft(session.name));
  const change = (to: (draft: Draft) => Draft): void =>
    setDraft((before) => {
      const after = to(before);
      keepDraft(session.name, after);
      return after;
    });
  return [draft, change];
}

export function Composer({ session, isRunning, agent, sent }: Props) {
  const [draft, change] = useDraft(session);
  const [problem, setProblem] = useState('');
  const history = useRef(new InputHistory()).current;
  const area = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const toCaret = useRef(false);
  const canSend = draft.text.trim() !== '' || draft.image !== null;

  const fit = (): void => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    // Out of sight it has no height; it gets one when it is seen.
    if (element.scrollHeight) element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT)}px`;
  };
  useLayoutEffect(() => {
    fit();
    if (toCaret.current) area.current?.setSelectionRange(draft.text.length, draft.text.length);
    toCaret.current = false;
  }, [draft.text]);
  useEffect(() => {
    let width = 0;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry || entry.contentRect.width === width) return;
      width = entry.contentRect.width;
      fit();
    });
    if (area.current) observer.observe(area.current);
    return () => observer.disconnect();
  }, []);

  const write = (text: string): void => change((before) => ({ ...before, text }));

  const send = async (): Promise<void> => {
    if (!canSend) return;
    const { text, image } = draft;
    change(() => EMPTY);
    setProblem('');
    history.reset();
    sent();
    try {
      await session.send(text, image?.url ?? null);
    } catch (error) {
      setProblem(`Not sent. ${(error as Error).message}`);
      // Before what was written since.
      change((since) => ({ text: since.text ? `${text}\n${since.text}` : text, image: since.image ?? image }));
    }
  };

  const attach = async (chosen: File | null): Promise<void> => {
    if (!chosen) return;
    try {
      const url = await imageUrl(chosen);
      setProblem('');
      change((before) => ({ ...before, image: { url, name: chosen.name || 'image' } }));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };

  const walk = (step: -1 | 1, element: HTMLTextAreaElement): boolean => {
    const { selectionStart: caret, selectionEnd, value } = element;
    const isOneLine = element.scrollHeight < 2 * 20 + 16 && !value.includes('\n');
    const atEnds = history.isAt(value) && (caret === value.length || caret === 0);
    if (caret !== selectionEnd || !(atEnds || isAtEdge(step, value, caret, isOneLine))) return false;
    const text = history.walk(step, value, () => session.transcript.ownPrompts());
    if (text === null) return false;
    toCaret.current = true;
    write(text);
    return true;
  };

  const onKey = (event: TargetedEvent<HTMLTextAreaElement, KeyboardEvent>): void => {
    // While a character is being composed the keys are the input method's. (229 is what Safari says of its last one.)
    if (event.isComposing || event.keyCode === 229) return;
    const isPlain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) void send();
    else if (event.key === 'Escape' && isRunning) void session.stop();
    else if (event.key === 'Escape' && (draft.text || problem)) {
      setProblem('');
      change(() => EMPTY);
    } else if (!isPlain || !((event.key === 'ArrowUp' && walk(-1, event.currentTarget)) || (event.key === 'ArrowDown' && walk(1, event.currentTarget)))) return;
    event.preventDefault();
  };

  const take = (event: Event, files: Iterable<File> | null | undefined): void => {
    const image = imageIn(files);
    if (!image) return;
    event.preventDefault();
    void attach(image);
  };

  return (
    <div class="jac-composer" onDragOver={(event) => event.preventDefault()} onDrop={(event) => take(event, event.dataTransfer?.files)}>
      {problem && (
        <div class="jac-problem" role="alert">
          {problem}
        </div>
      )}
      {draft.image && (
        <div class="jac-chip">
          <img src={draft.image.url} alt="" />
          <span>{draft.image.name}</span>
          <button type="button" aria-label={`Remove ${draft.image.name}`} title="Remove" onClick={() => change((before) => ({ ...before, image: null }))}>
            ×
          </button>
        </div>
      )}
      <div class="jac-input">
        <input ref={file} type="file" accept={ACCEPTED} hidden onChange={(event) => {
            void attach(imageIn(event.currentTarget.files));
            event.currentTarget.value = '';
          }} />
        <button type="button" class="jac-icon" title="Attach an image" aria-label="Attach an image" onClick={() => file.current?.click()}>
          <AttachIcon />
        </button>
        <textarea
          ref={area}
          rows={1}
          value={draft.text}
          placeholder={agent === null ? 'Write a message' : `Message ${agent}`}
          aria-label="Message"
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKey}
          onPaste={(event) => take(event, event.clipboardData?.files)}
        />
        {isRunning && (
          <button type="button" class="jac-icon jac-stop" title="Stop (Esc)" aria-label="Stop" onClick={() => void session.stop()}>
            <StopIcon />
          </button>
        )}
        {(!isRunning || canSend) && (
          <button type="button" class="jac-icon jac-send" title="Send (Enter)" aria-label="Send" disabled={!canSend} onClick={() => {
              void send();
              area.current?.focus({ preventScroll: true });
            }}>
            <SendIcon />
          </button>
        )}
      </div>
    </div>
  );
}
