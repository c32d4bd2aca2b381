/** Owns what a chat adds to a block of code: its language and a button that copies it. */

import { button, make } from '../dom.js';

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page over plain HTTP has no clipboard; this old way it still has.
    const area = make('textarea', { value: text, className: 'jac-hidden' });
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    if (!isCopied) throw new Error('The browser does not let this page copy.');
  }
}

function copyButton(text: () => string): HTMLButtonElement {
  const element = button(['Copy', () => {}], { className: 'jac-copy', title: 'Copy this code' });
  const say = (words: string): void => {
    element.textContent = words;
    setTimeout(() => (element.textContent = 'Copy'), 1500);
  };
  element.onclick = () => {
    copy(text()).then(
      () => say('Copied'),
      () => say('Not copied'),
    );
    element.focus({ preventScroll: true });
  };
  return element;
}

/** Of code that is still being written there is nothing to copy yet. */
export function decorateCode(root: ParentNode, settled: boolean): void {
  for (const pre of root.querySelectorAll('pre')) {
    const code = pre.querySelector('code');
    const language = /(?:^|\s)language-(\S+)/.exec(code?.className ?? '')?.[1] ?? '';
    const head = make('div', { className: 'jac-code-head' }, make('span', { textContent: language || 'text' }));
    if (settled) head.append(copyButton(() => pre.textContent ?? ''));
    const frame = make('div', { className: 'jac-code' });
    pre.replaceWith(frame);
    // What is wider than the chat scrolls, also by keys.
    pre.tabIndex = 0;
    frame.append(head, pre);
  }
  for (const table of root.querySelectorAll('table')) {
    const frame = make('div', { className: 'jac-table', tabIndex: 0 });
    table.replaceWith(frame);
    frame.append(table);
  }
}
