/** Owns the applet's base look: the notebook's theme as variables, and defaults that any rule of the applet overrides. */

import type { Theme } from '../frame/messages.js';

const DEFAULTS = [
  ':where(html){background:var(--applet-background);color:var(--applet-foreground)}',
  ':where(html){font:14px/1.5 var(--applet-font);accent-color:var(--applet-accent)}',
  ':where(body:has(>#appletView)){margin:0}:where(#appletView){padding:8px}',
  ':where(#appletView>:first-child){margin-top:0}:where(#appletView>:last-child){margin-bottom:0}',
  ':where(code,pre,kbd,samp){font-family:var(--applet-mono)}',
  ':where(a){color:var(--applet-accent)}',
].join('');

/** The row is as high as the frame, or as the content where that is higher. */
const FILLING =
  ':where(html){height:100%}:where(body:has(>#appletView)){min-height:100%;display:grid;grid:auto/minmax(0,1fr)}';

function addStyle(css: string): CSSStyleSheet {
  const style = document.createElement('style');
  style.textContent = css;
  document.head.append(style);
  return style.sheet as CSSStyleSheet;
}

/** Puts the styles in; returns the way to change the theme later. */
export function installStyles(css: string, fills: boolean): (theme: Theme) => void {
  const rule = addStyle(`:root{}${DEFAULTS}${fills ? FILLING : ''}`).cssRules[0] as CSSStyleRule;
  if (css) addStyle(css);
  return ({ dark, variables }) => {
    // Through the CSSOM, so that no value can be anything but a value.
    rule.style.cssText = '';
    for (const [name, value] of Object.entries(variables)) rule.style.setProperty(name, value);
    rule.style.colorScheme = dark ? 'dark' : 'light';
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
  };
}
