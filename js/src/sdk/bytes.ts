/** Owns bytes as text and base64, both ways. */

/** The text of `bytes`, or null when they are none. */
export function textOrNull(bytes: ArrayBuffer | Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

export function toBase64(bytes: ArrayBuffer): string {
  const all = new Uint8Array(bytes);
  const parts: string[] = [];
  // A call takes only so many arguments.
  for (let at = 0; at < all.length; at += 0x8000) parts.push(String.fromCharCode(...all.subarray(at, at + 0x8000)));
  return btoa(parts.join(''));
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
