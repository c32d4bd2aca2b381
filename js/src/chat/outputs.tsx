/** Owns what an agent displayed, on the page: images, tables and text are fetched when they are near the view. */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Output } from '../protocol.gen.js';
import { decorateCode } from './code.js';
import type { Context } from './context.js';
import type { OutputData } from './guards.js';
import { wordsOf } from './session.js';
import { sanitizeOutput } from './sanitize.js';
import { LongText } from './tools.js';

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'];
const TEXTS = ['text/plain', 'text/markdown', 'text/csv', 'application/json'];
/** A table of more is to be opened elsewhere. */
const MAX_HTML = 1_000_000;

const plainMime = (mime: string): string => (mime.split(';')[0] ?? '').trim().toLowerCase();
const isBase64 = (data: string): boolean => /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data);

/** An address that needs no request; null for what is none. As an image, an SVG runs no script and loads nothing. */
export function imageAddress({ mime, data }: OutputData): string | null {
  const kind = plainMime(mime);
  if (!IMAGES.includes(kind)) return null;
  if (isBase64(data)) return `data:${kind};base64,${data.replace(/\s+/g, '')}`;
  return kind === 'image/svg+xml' ? `data:${kind},${encodeURIComponent(data)}` : null;
}

function textOf({ mime, data }: OutputData): string {
  if (plainMime(mime).startsWith('text/') || !isBase64(data)) return data;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
  } catch {
    return data;
  }
}

/** To a file: as bytes without a kind, so that no browser shows it instead. */
function download(name: string, { mime, data }: OutputData): void {
  const isText = plainMime(mime).startsWith('text/') || !isBase64(data);
  const bytes = isText ? data : Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.download = name.split(/[\\/]/).at(-1) || 'output';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function Html({ html }: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const content = sanitizeOutput(html);
    decorateCode(content, true);
    place.current?.replaceChildren(content);
  }, [html]);
  return <div class="jac-html" ref={place} />;
}

function Picture({ address, title, context, name }: { address: string; title: string; context: Context; name: string }) {
  const id = `image ${name}`;
  const [large, setLarge] = useState(context.opened.has(id));
  const toggle = (): void => {
    context.log?.hold();
    if (large) context.opened.delete(id);
    else context.opened.add(id);
    setLarge(!large);
  };
  return (
    <button type="button" class={`jac-picture${large ? ' jac-large' : ''}`} onClick={toggle} aria-pressed={large} title={large ? 'Show smaller' : 'Show larger'}>
      <img src={address} alt={title || 'Image'} />
    </button>
  );
}

type State = { data: OutputData } | { error: string } | null;

function useOutput(name: string, context: Context): [State, () => void] {
  const [state, setState] = useState<State>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isThere = true;
    context.session.readOutput(name).then(
      (data) => isThere && setState({ data }),
      (error) => isThere && setState({ error: wordsOf(error) }),
    );
    return () => {
      isThere = false;
    };
  }, [name, tries]);
  const again = (): void => {
    setState(null);
    setTries(tries + 1);
  };
  return [state, again];
}

function Body({ output, data, context }: { output: Output; data: OutputData; context: Context }) {
  const kind = plainMime(data.mime);
  const address = imageAddress(data);
  if (address !== null) return <Picture address={address} title={output.title ?? ''} name={output.name} context={context} />;
  if (kind === 'text/html' && data.data.length <= MAX_HTML) return <Html html={textOf(data)} />;
  if (TEXTS.includes(kind)) return <LongText class="jac-plain" text={textOf(data)} />;
  return <Download output={output} context={context} />;
}

function Download({ output, context }: { output: Output; context: Context }) {
  const [problem, setProblem] = useState('');
  const fetchIt = (): void => {
    setProblem('');
    context.session.readOutput(output.name).then((data) => download(output.name, data)).catch((error) => setProblem(wordsOf(error)));
  };
  return (
    <div class="jac-note">
      <button type="button" class="jac-link" onClick={fetchIt}>
        Download {output.title || output.name}
      </button>
      <span>{problem || output.mime}</span>
    </div>
  );
}

function Shown({ output, context }: { output: Output; context: Context }) {
  const [state, again] = useOutput(output.name, context);
  if (state === null) return <div class={`jac-loading${IMAGES.includes(plainMime(output.mime)) ? ' jac-image' : ''}`} role="status" aria-label="Loading" />;
  if ('data' in state) return <Body output={output} data={state.data} context={context} />;
  return (
    <div class="jac-note">
      {`${output.title || output.name} could not be read. ${state.error} `}
      <button type="button" class="jac-link" onClick={again}>
        Try again
      </button>
    </div>
  );
}

/** Rows far from the view are not there, so that whatever is there may be fetched. */
export function OutputView({ output, context }: { output: Output; context: Context }) {
  const kind = plainMime(output.mime);
  if (!IMAGES.includes(kind) && !TEXTS.includes(kind) && kind !== 'text/html') return <Download output={output} context={context} />;
  return (
    <figure class="jac-output">
      <Shown output={output} context={context} />
      {output.title ? <figcaption>{output.title}</figcaption> : null}
    </figure>
  );
}
