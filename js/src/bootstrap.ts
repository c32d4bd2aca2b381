/**
 * The widget's module: unpacks the core and runs it, once per page. A comm sends this module once per widget, so the core
 * is in it deflated, and every copy but the first leaves it so.
 */

/** Put in by the build: the core, deflated, packed as text; how many bytes that is; the name that only this very core has. */
declare const __CORE__: string;
declare const __CORE_BYTES__: number;
declare const __CORE_NAME__: string;

type Core = { default(): Promise<unknown> };

const NAME = Symbol.for(`jupyter_applets/core/${__CORE_NAME__}`);
const shared = globalThis as { [NAME]?: Promise<Core> | undefined };

/** 85 bits in 13 of the 93 characters that JSON carries as they are: a twelfth less than base64. */
function deflated(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(__CORE_BYTES__);
  let [bits, count, filled] = [0n, 0n, 0];
  for (const [group] of __CORE__.matchAll(/.{13}/g)) {
    let value = 0n;
    for (const character of group) {
      const code = character.charCodeAt(0);
      value = value * 93n + BigInt(code - (code > 92 ? 34 : code > 34 ? 33 : 32));
    }
    bits |= value << count;
    for (count += 85n; count > 7n; count -= 8n) {
      // What is beyond the end is not taken.
      bytes[filled++] = Number(bits & 255n);
      bits >>= 8n;
    }
  }
  return bytes;
}

async function unpack(): Promise<Core> {
  const stream = new Blob([deflated()]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const text = await new Response(stream).text();
  // As anywidget loads this module itself, so where this one runs, the other does.
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

function load(): Promise<Core> {
  return (shared[NAME] ??= unpack().catch((error: unknown) => {
    // The next widget tries again.
    shared[NAME] = undefined;
    throw error;
  }));
}

export default async (): Promise<unknown> => (await load()).default();
