/** Owns a tool call on the page: one line, folded, with what went in and what came out. All of it as text. */

import { useState } from 'preact/hooks';
import type { Json, ToolCall } from '../protocol.gen.js';
import type { Context } from './context.js';

const SHOWN = 4000;

/** What the host has cut says so itself. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value?.cut === 'string' && typeof value?.bytes === 'number') return `${value.cut}\n… (${value.bytes} bytes)`;
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return String(value);
  }
}

export function LongText({ text, class: name }: { text: string; class: string }) {
  const [all, showAll] = useState(false);
  const isCut = !all && text.length > SHOWN * 1.25;
  return (
    <div class={name}>
      <pre tabIndex={0}>{isCut ? `${text.slice(0, SHOWN)}…` : text}</pre>
      {isCut && (
        <button type="button" class="jac-link" onClick={() => showAll(true)}>
          Show all ({text.length.toLocaleString()} characters)
        </button>
      )}
    </div>
  );
}

function Part({ label, value }: { label: string; value: Json }) {
  return (
    <>
      <div class="jac-tool-label">{label}</div>
      <LongText class="jac-tool-value" text={textOf(value)} />
    </>
  );
}

export function ToolView({ id, call, context }: { id: string; call: ToolCall; context: Context }) {
  const [open, setOpen] = useState(context.opened.has(id));
  const state = !call.done ? 'running' : call.error == null ? 'done' : 'failed';
  const toggle = (event: Event): void => {
    event.preventDefault();
    context.log?.hold();
    if (open) context.opened.delete(id);
    else context.opened.add(id);
    setOpen(!open);
  };
  return (
    <details class={`jac-tool jac-${state}`} open={open}>
      <summary onClick={toggle}>
        <span class={state === 'running' ? 'jac-spinner' : 'jac-mark'} aria-hidden="true">
          {state === 'done' ? '✓' : state === 'failed' ? '✗' : ''}
        </span>
        <code>{call.name}</code>
        <span class="jac-hidden">{` ${state}`}</span>
      </summary>
      {open && (
        <div class="jac-tool-body">
          {call.arguments != null && <Part label="Arguments" value={call.arguments} />}
          {call.error != null ? <Part label="Error" value={call.error} /> : call.done ? <Part label="Result" value={call.result ?? null} /> : null}
        </div>
      )}
    </details>
  );
}
