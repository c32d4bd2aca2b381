/** Owns an applet's requests about sessions: done by the page, as the applet's, and streamed to it as fast as it takes them. */

import { AskError } from '../channel/asked.js';
import { fetchOptions, serverUrl } from '../channel/server.js';
import type { Page } from './page.js';
import { Refused, type Target, target } from './paths.js';
import type { RequestWord } from './words.js';

/** What an applet may say in a header, and what it hears. */
const ASKED = ['Accept', 'Last-Event-ID'];
const TOLD = ['Content-Type', 'Retry-After'];

const json = (status: number, code: string, error: string): Response =>
  new Response(JSON.stringify({ error, message: error, code }), { status, headers: { 'Content-Type': 'application/json' } });

/** What the person is asked about. */
function about({ path }: Target, body = ''): string | null {
  if (!/message/.test(path)) return null;
  try {
    const { prompt } = JSON.parse(body) as { prompt?: unknown };
    return typeof prompt === 'string' ? prompt : null;
  } catch {
    return null;
  }
}

/** The server's answer, whatever it is. Rejects only where there is none. */
export async function request(page: Page, word: RequestWord, signal: AbortSignal): Promise<Response> {
  try {
    const to = target(word.method, word.path);
    return await page.mayAsk(about(to, word.body), (consent) => send(page, to, word, signal, consent));
  } catch (error) {
    if (error instanceof Refused) return json(error.status, error.code, error.message);
    const { code, message } = error as AskError;
    if (code === 'ROUTE_ERROR') return json(503, code, message);
    if (/^PERMISSION_/.test(code)) return json(403, code, message);
    throw error;
  }
}

async function send(page: Page, { path, query }: Target, word: RequestWord, signal: AbortSignal, consent: boolean): Promise<Response> {
  const { method, headers, body } = word;
  const { session, patience } = page.channel();
  // `session`, in the query, is the one that is asked about; the applet's own may be another.
  const who = { windowId: page.view.windowId, windowSession: session, revision: String(page.revision) };
  const how = { ...(consent ? { consent: '1' } : {}), ...(page.byPerson() ? { byPerson: '1' } : {}) };
  // A comm has patience: the server may be there, but its host is another than ours.
  const url = patience === null ? serverUrl(`api/${path}`, { ...query, ...who, ...how }) : null;
  if (url === null) throw new AskError('ROUTE_ERROR', 'Sessions over HTTP need the Jupyter server extension; use invokeAgent().');
  const options = fetchOptions();
  for (const name of ASKED) if (headers[name] !== undefined) options.headers[name] = headers[name];
  if (body !== undefined) options.headers['Content-Type'] = 'application/json';
  const response = await fetch(url, { ...options, method, cache: 'no-store', redirect: 'error', signal, ...(body === undefined ? {} : { body }) });
  return response.status === 403 ? refusal(response) : response;
}

/** Thrown where a person can be asked. */
async function refusal(response: Response): Promise<Response> {
  const text = await response.text();
  let code: unknown, message: unknown;
  try {
    ({ code, message } = JSON.parse(text));
  } catch {
    // Somebody else's refusal: the applet gets it as it is.
  }
  if (code === 'PERMISSION_NEEDED') throw new AskError(code, String(message));
  const { status, statusText, headers } = response;
  return new Response(text, { status, statusText, headers: toldHeaders(headers) });
}

export const toldHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(TOLD.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
