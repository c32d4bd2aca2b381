/** Owns counting in code points: the host counts an answer's characters so, JavaScript's strings do not. */

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const widthAt = (text: string, i: number): 1 | 2 => (isHigh(text.charCodeAt(i)) && isLow(text.charCodeAt(i + 1)) ? 2 : 1);

export function countPoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += widthAt(text, i)) count += 1;
  return count;
}

/** The text without its first `count` code points. */
export function skipPoints(text: string, count: number): string {
  let i = 0;
  for (let left = count; left > 0 && i < text.length; left -= 1) i += widthAt(text, i);
  return text.slice(i);
}
