/**
 * Builds what the package ships in widget/static:
 *   applet.js   the widget's ES module: a bootstrap with the core in it (widget.ts and the SDK's text), deflated
 *   sdk.js      the SDK that runs inside an applet, as exported files have it
 *   lexer.js    an expression that gives the module lexer's `parse`
 *   agent.js    the page's ES module for applets that speak with the agent, with the SDK's half of it as text
 *   desk.js     the desk's ES module, and desk-loader.js, the widget's own, which loads it
 *   chat.js     the chat's, and chat-loader.js
 */

import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import zopfli from '@gfx/zopfli';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = `${here}/../jupyter_applets/widget/static`;

// A comm sends applet.js once per widget instance.
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

async function emit(name, text) {
  const size = Buffer.byteLength(text);
  if (name === 'applet.js' && size > LIMIT) throw new Error(`${name} is ${size} bytes; the limit is ${LIMIT}.`);
  await writeFile(`${output}/${name}`, `${text}\n`);
  console.log(`${name} ${size} bytes${name === 'applet.js' ? ` of ${LIMIT}` : ''}`);
}

/** As bootstrap.ts unpacks it. */
function packed(bytes) {
  const character = (digit) => String.fromCharCode(digit + (digit > 58 ? 34 : digit > 1 ? 33 : 32));
  let [text, bits, count] = ['', 0n, 0n];
  const put = () => {
    let [value, group] = [bits & ((1n << 85n) - 1n), ''];
    for (let at = 0; at < 13; at += 1) {
      group = character(Number(value % 93n)) + group;
      value /= 93n;
    }
    text += group;
    bits >>= 85n;
    count -= 85n;
  };
  for (const byte of bytes) {
    bits |= BigInt(byte) << count;
    count += 8n;
    if (count >= 85n) put();
  }
  if (count > 0n) put();
  return text;
}

await mkdir(output, { recursive: true });

// The SDK stands on the first line of an applet's document, so that its author's line numbers are right: no newline in it.
async function bundleSdk(isExport) {
  const define = { __EXPORT__: String(isExport) };
  const sdk = await bundle('sdk/index.ts', { format: 'iife', supported: { 'template-literal': false }, define });
  if (/\n|<\/script|<!--/i.test(sdk)) throw new Error('The SDK cannot stand in a <script> on one line.');
  return sdk;
}
await emit('sdk.js', await bundleSdk(true));

const lexer = await bundle('lexer/index.ts', { format: 'iife', globalName: 'lexer' });
await emit('lexer.js', `(()=>{${lexer}return lexer.parse})()`);

const agentSdk = await bundle('sdk/agent/index.ts', { format: 'iife', globalName: 'agent' });
const agentText = JSON.stringify(`(()=>{${agentSdk}return agent.open})()`);
await emit('agent.js', await bundle('agent/page.ts', { format: 'esm', charset: 'utf8', define: { __AGENT_SDK__: agentText } }));

const sdk = await bundleSdk(false);
const module = { format: 'esm', charset: 'utf8', define: { __SDK__: JSON.stringify(sdk) } };
await emit('desk.js', await bundle('desk/widget.ts', module));
await emit('desk-loader.js', await bundle('desk/loader.ts', { format: 'esm', charset: 'utf8' }));
await emit('chat.js', await bundle('chat/widget.ts', { format: 'esm', charset: 'utf8' }));
await emit('chat-loader.js', await bundle('chat/loader.ts', { format: 'esm', charset: 'utf8' }));

const core = await bundle('widget.ts', module);
// Zopfli: any inflater reads it, and it is a thirtieth smaller than what zlib makes.
const deflated = await promisify(zopfli.deflate)(Buffer.from(core), { numiterations: 100 });
const define = {
  __CORE__: JSON.stringify(packed(deflated)),
  __CORE_BYTES__: String(deflated.length),
  __CORE_NAME__: JSON.stringify(createHash('sha256').update(core).digest('hex').slice(0, 16)),
};
// Last: make takes it for a sign that all is there.
await emit('applet.js', await bundle('bootstrap.ts', { format: 'esm', define }));
