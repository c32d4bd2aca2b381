/** Owns the panel that asks whether an applet may run: what it is, what it will load, and its source, as text. */

import { button, make, shown } from './dom.js';
import { declares } from './permissions.js';
import type { Content } from './protocol.gen.js';

/** No preview has to hold a library. */
const PREVIEW = 20_000;

const size = (text: string): string => {
  const bytes = new TextEncoder().encode(text).length;
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`;
};

/** What would be loaded: name, size, and text where it is one. Ours are the names without quotes. */
function parts({ html = '', js = '', css = '', modules = {}, files = {} }: Content): { name: string; size: string; text: string }[] {
  const part = (name: string, text: string, bytes = text) => ({ name, size: size(bytes), text });
  const own = Object.entries({ HTML: html, JavaScript: js, CSS: css }).filter(([, text]) => text);
  return [
    ...own.map(([name, text]) => part(name, text)),
    ...Object.entries(modules).map(([name, text]) => part(shown(name), text)),
    ...Object.entries(files).map(([name, { text, base64 }]) => part(shown(name), text ?? '', text ?? atob(base64 ?? ''))),
  ];
}

export function runPanel(content: Content, run: () => void, always: () => void): HTMLElement {
  const loads = parts(content);
  const panel = make(
    'div',
    { className: 'jupyter-applet-run', role: 'group' },
    make('b', { textContent: content.title ? shown(content.title) : 'An applet' }),
    make('p', { textContent: 'Its code waits for you. Run it if you know where it comes from.' }),
    make('p', { textContent: `It will load: ${loads.map(({ name, size }) => `${name} (${size})`).join(', ') || 'nothing'}.` }),
  );
  const wants = declares(content);
  if (wants.length) panel.append(make('p', { textContent: `It wants to: ${wants.join('; ')}.` }));
  const preview = make('details', {}, make('summary', { textContent: 'Source' }));
  for (const { name, text } of loads) {
    if (text) preview.append(make('i', { textContent: name }), make('pre', { textContent: text.slice(0, PREVIEW) + (text.length > PREVIEW ? '\n…' : '') }));
  }
  panel.append(preview, make('div', {}, button(['Run', run]), ' ', button(['Always run', always])));
  return panel;
}
