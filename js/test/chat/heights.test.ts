import { describe, expect, it } from 'vitest';
import { estimateText, Heights } from '../../src/chat/heights.js';

const keys = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `r${from + i}`);

function rows(count: number, height = 100): Heights {
  const heights = new Heights();
  heights.setRows(keys(count), () => height);
  return heights;
}

describe('heights', () => {
  it('finds rows by place and places by row, measured or not', () => {
    const heights = rows(10);
    expect([heights.total, heights.offsetOf(3), heights.placeAt(0), heights.placeAt(299), heights.placeAt(300)]).toEqual([1000, 300, 0, 2, 3]);
    expect([heights.placeAt(-50), heights.placeAt(5000)]).toEqual([0, 9]);
    expect([heights.measure('r2', 150), heights.measure('r2', 150), heights.measure('gone', 10)]).toEqual([true, false, true]);
    expect([heights.total, heights.offsetOf(2), heights.offsetOf(3)]).toEqual([1050, 200, 350]);
  });

  it('gives the rows near the view', () => {
    const heights = rows(1000);
    expect(heights.range(5000, 500, 250)).toEqual({ first: 47, last: 58 });
    expect(heights.range(0, 500, 250)).toEqual({ first: 0, last: 8 });
    expect(rows(0).range(0, 500, 250)).toEqual({ first: 0, last: 0 });
  });

  it('keeps what is looked at in its place when rows above it come or change', () => {
    const heights = rows(10);
    const anchor = heights.anchorAt(540)!;
    expect(anchor).toEqual({ key: 'r5', delta: 40 });
    heights.measure('r1', 180);
    expect(heights.topOf(anchor)).toBe(620);
    heights.setRows([...keys(5, 100), ...keys(10)], () => 50);
    expect(heights.topOf(anchor)).toBe(620 + 250);
    heights.measure('r9', 900);
    expect(heights.topOf(anchor)).toBe(870);
    heights.setRows(keys(3), () => 50);
    expect([heights.topOf(anchor), rows(0).anchorAt(0)]).toEqual([null, null]);
  });

  it('keeps what was measured while rows come and go, and forgets it at another width', () => {
    const heights = rows(3);
    heights.measure('r1', 40);
    heights.setRows(['r1', 'r9'], () => 7);
    expect(heights.total).toBe(47);
    heights.forget();
    heights.setRows(['r1', 'r9'], () => 10);
    expect(heights.total).toBe(20);
  });

  it('is as right as adding up, after any change', () => {
    const heights = rows(200);
    const real = new Array<number>(200).fill(100);
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 16807) % 2147483647) % below;
    for (let i = 0; i < 500; i += 1) {
      const at = random(200);
      real[at] = 20 + random(300);
      heights.measure(`r${at}`, real[at]!);
      const to = random(201);
      expect(heights.offsetOf(to)).toBe(real.slice(0, to).reduce((sum, height) => sum + height, 0));
    }
  });

  it('estimates a text by its lines', () => {
    expect([estimateText('', 700), estimateText('a\nb\nc', 700), estimateText('x'.repeat(250), 700)]).toEqual([21, 63, 63]);
    expect(estimateText('x'.repeat(40_000), 700)).toBeCloseTo(8400);
  });
});
