/** Owns the SDK's text. It is carried deflated: a comm sends this whole module once per widget. */

/** Put in by the build: the minified SDK, deflated, as base64. */
declare const __SDK__: string;

export function sdkText(): Promise<string> {
  const deflated = Uint8Array.from(atob(__SDK__), (character) => character.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}
