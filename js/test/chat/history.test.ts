import { describe, expect, it } from 'vitest';
import { InputHistory, isAtEdge } from '../../src/chat/history.js';

describe('the input history', () => {
  const said = () => ['one', 'two', 'two', 'three'];

  it('walks back and forth and gives the draft back', () => {
    const history = new InputHistory();
    expect(history.walk(1, 'draft', said)).toBeNull();
    const shown = ['draft'];
    for (const step of [-1, -1, -1, 1, 1, 1] as const) shown.push(history.walk(step, shown.at(-1)!, said)!);
    expect(shown).toEqual(['draft', 'three', 'two', 'one', 'two', 'three', 'draft']);
    expect(history.walk(1, 'draft', said)).toBeNull();
  });

  it('stops at the first, and has nothing where nothing was said', () => {
    const history = new InputHistory();
    history.walk(-1, '', () => ['only']);
    expect(history.walk(-1, 'only', () => ['only'])).toBeNull();
    expect(new InputHistory().walk(-1, '', () => [])).toBeNull();
  });

  it('takes a text that was changed for the draft of a new walk', () => {
    const history = new InputHistory();
    history.walk(-1, 'draft', said);
    expect(history.walk(-1, 'three!', said)).toBe('three');
    expect(history.walk(1, 'three', said)).toBe('three!');
  });

  it('leaves the keys to a text of several lines until its edge', () => {
    expect([isAtEdge(-1, 'a\nb', 3, false), isAtEdge(-1, 'a\nb', 0, false), isAtEdge(1, 'a\nb', 1, false), isAtEdge(1, 'a\nb', 3, false)]).toEqual([false, true, false, true]);
    expect(isAtEdge(-1, 'ab', 1, true)).toBe(true);
  });
});
