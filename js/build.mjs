// Builds the widget's one ES module: first the SDK that runs inside an applet, then the widget with the SDK's text in it.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = `${here}/../jupyter_applets/widget/static/applet.js`;

// A comm sends the module once per widget instance.
const LIMIT = 40_000;

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [`${here}/src/${entry}`],
    bundle: true,
    minify: true,
    write: false,
    target: 'es2022',
    logLevel: 'warning',
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

// The SDK stands on the first line of an applet's document, so that its author's line numbers are right: no newline in it.
const sdk = await bundle('sdk/index.ts', { format: 'iife', supported: { 'template-literal': false } });
if (/\n|<\/script|<!--/i.test(sdk)) throw new Error('The SDK cannot stand in a <script> on one line.');

const deflated = deflateRawSync(sdk, { level: 9 }).toString('base64');
const widget = await bundle('widget.ts', { format: 'esm', charset: 'utf8', define: { __SDK__: JSON.stringify(deflated) } });
const size = Buffer.byteLength(widget);
if (size > LIMIT) throw new Error(`applet.js is ${size} bytes; the limit is ${LIMIT}.`);

await mkdir(dirname(output), { recursive: true });
await writeFile(output, `${widget}\n`);
console.log(`sdk ${Buffer.byteLength(sdk)} bytes, applet.js ${size} of ${LIMIT} bytes`);
