/** Owns our own names of a theme's colours and fonts: where each comes from, and what it is where there is no notebook. */

import type { Theme } from './messages.js';

/** Our name: where it comes from, best first; then its value where there is none of them, light and dark. */
export const LOOK: Record<string, [sources: string[], light: string, dark: string]> = {
  '--applet-background': [['--jp-layout-color0', '--vscode-editor-background'], '#ffffff', '#1e1e1e'],
  '--applet-foreground': [['--jp-content-font-color1', '--vscode-editor-foreground'], '#212121', '#e4e4e4'],
  '--applet-muted': [['--jp-content-font-color2', '--vscode-descriptionForeground'], '#616161', '#a8a8a8'],
  '--applet-accent': [['--jp-brand-color1', '--vscode-focusBorder'], '#1976d2', '#64b5f6'],
  '--applet-border': [['--jp-border-color1', '--vscode-panel-border'], '#bdbdbd', '#555555'],
  '--applet-font': [['--jp-content-font-family', '--vscode-font-family'], 'system-ui, sans-serif', 'system-ui, sans-serif'],
  '--applet-mono': [['--jp-code-font-family', '--vscode-editor-font-family'], 'ui-monospace, monospace', 'ui-monospace, monospace'],
};

/** The theme of a document that stands alone. */
export function plainTheme(dark: boolean): Theme {
  return { dark, variables: Object.fromEntries(Object.entries(LOOK).map(([name, [, light, other]]) => [name, dark ? other : light])) };
}
