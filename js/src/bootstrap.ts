/**
 * The widget's module: unpacks the core and runs it, once per page. A comm sends this module once per widget, so the core
 * is in it deflated, and every copy but the first leaves it so.
 */

/** Put in by the build: the core, deflated, as base64; and the name that only this very core has. */
declare const __CORE__: string;
declare const __CORE_NAME__: string;

type Core = { default(): Promise<unknown> };

const NAME = Symbol.for(`jupyter_applets/core/${__CORE_NAME__}`);
const shared = globalThis as { [NAME]?: Promise<Core> | undefined };

async function unpack(): Promise<Core> {
  const deflated = Uint8Array.from(atob(__CORE__), (character) => character.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
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
