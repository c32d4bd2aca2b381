/** Owns what the applet is told of the notebook's theme: dark or not, Lab's CSS variables, and our own names for them. */

import { LOOK } from './look.js';
import type { Theme } from './messages.js';

const range = (name: string, to: number): string[] => Array.from({ length: to + 1 }, (_, i) => `--jp-${name}${i}`);

/** Lab's variables that an applet may want to look native. */
const LAB = [
  ...range('layout-color', 4),
  ...range('ui-font-color', 3),
  ...range('content-font-color', 3),
  ...range('border-color', 3),
  ...range('brand-color', 3),
  ...range('ui-font-size', 3),
  ...range('content-font-size', 3),
  ...['accent-color1', 'error-color1', 'warn-color1', 'success-color1', 'info-color1', 'content-link-color'].map((n) => `--jp-${n}`),
  ...['ui-font-family', 'content-font-family', 'code-font-family', 'code-font-size'].map((n) => `--jp-${n}`),
  ...['border-radius', 'border-width', 'cell-editor-background', 'cell-editor-border-color'].map((n) => `--jp-${n}`),
];

function isDark(): boolean {
  const lab = document.body.dataset['jpThemeLight'];
  if (lab !== undefined) return lab === 'false';
  const { classList } = document.body;
  if (classList.contains('vscode-dark') || classList.contains('vscode-high-contrast')) return true;
  if (classList.contains('vscode-light')) return false;
  const colab = document.documentElement.getAttribute('theme');
  if (colab !== null) return colab === 'dark';
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.body);
  const dark = isDark();
  const variables: Record<string, string> = {};
  for (const name of LAB) {
    const value = style.getPropertyValue(name).trim();
    if (value) variables[name] = value;
  }
  for (const [name, [sources, light, other]] of Object.entries(LOOK)) {
    const found = sources.map((source) => style.getPropertyValue(source).trim()).find(Boolean);
    variables[name] = found ?? (dark ? other : light);
  }
  return { dark, variables };
}

/** Calls back when the theme is another one. Lab sets its attributes before the new stylesheet has loaded, so both are watched. */
export function watchTheme(changed: (theme: Theme) => void): () => void {
  let last = JSON.stringify(readTheme());
  let scheduled = 0;
  const check = (): void => {
    scheduled = 0;
    const theme = readTheme();
    const text = JSON.stringify(theme);
    if (text === last) return;
    last = text;
    changed(theme);
  };
  const soon = (): void => {
    scheduled ||= window.setTimeout(check, 0);
  };
  const loaded = (event: Event): void => {
    if (event.target instanceof HTMLLinkElement) soon();
  };
  const observer = new MutationObserver(soon);
  const attributeFilter = ['class', 'style', 'theme', 'data-jp-theme-light', 'data-jp-theme-name'];
  observer.observe(document.body, { attributes: true, attributeFilter });
  observer.observe(document.documentElement, { attributes: true, attributeFilter });
  const preference = matchMedia('(prefers-color-scheme: dark)');
  preference.addEventListener('change', soon);
  document.addEventListener('load', loaded, true);
  return () => {
    observer.disconnect();
    preference.removeEventListener('change', soon);
    document.removeEventListener('load', loaded, true);
    clearTimeout(scheduled);
  };
}
