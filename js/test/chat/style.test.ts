import { describe, expect, it } from 'vitest';
import { COLOURS, STYLE } from '../../src/chat/style.js';

const channels = (hex: string): number[] => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(text: string, ground: string, opacity = 1): number {
  const below = channels(ground);
  const shown = channels(text).map((c, i) => opacity * c + (1 - opacity) * below[i]!);
  const [light, dark] = [luminance(shown), luminance(below)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

describe('the colours of bubbles', () => {
  it.each(Object.entries(COLOURS))('%s is readable everywhere in it, the name above it too (WCAG AA)', (_name, { from, to, text, label }) => {
    for (const ground of [from, to]) {
      expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(text, ground, label)).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('are the ones of the specification', () => {
    expect(STYLE).toContain('linear-gradient(135deg,#e65c00 0%,#f09819 100%);border-left:3px solid #ff7b00');
    expect(STYLE).toContain('content:attr(data-applet-source)');
  });

  it('are all below the class of the chat', () => {
    const rules = STYLE.split('\n').filter((line) => line && !line.startsWith('@'));
    expect(rules.filter((line) => !line.startsWith('.jupyter-applet-chat'))).toEqual([]);
  });
});
