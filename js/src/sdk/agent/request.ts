/** Owns `fetch` of the agent's paths: the request to the page, and a response whose body comes as it is read. */

import type { HeadWord } from '../../agent/words.js';
import type { Link } from './link.js';

const HEADERS = ['Accept', 'Last-Event-ID'];

/** Responses that have no body. */
const EMPTY = [204, 205, 304];

export async function request(link: Link, input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const from = typeof input === 'object' && 'url' in input ? input : null;
  const method = (init.method ?? from?.method ?? 'GET').toUpperCase();
  const url = from ? from.url : String(input);
  const signal = init.signal ?? from?.signal;
  const path = `/api/${/api\/([^#]*)/.exec(url)?.[1] ?? ''}`;
  const all = new Headers(init.headers ?? from?.headers);
  const headers = Object.fromEntries(HEADERS.flatMap((name) => (all.has(name) ? [[name, all.get(name) ?? '']] : [])));
  const hasBody = method !== 'GET' && method !== 'HEAD' && (init.body ?? from?.body ?? null) !== null;
  const body = hasBody ? { body: await (init.body === undefined && from ? from : new Response(init.body)).text() } : {};
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    let stream!: ReadableStreamDefaultController<Uint8Array>;
    let hasBegun = false;
    let taken = (): void => {};
    const fail = (error: unknown): void => (hasBegun ? stream.error(error) : reject(error));
    const abort = (): void => {
      link.cancel(id);
      fail(signal?.reason);
    };
    const end = (): void => signal?.removeEventListener('abort', abort);
    const id = link.begin({ type: 'request', method, path, headers, ...body }, (word) => {
      switch (word.type) {
        case 'head':
          hasBegun = true;
          resolve(respond(word));
          break;
        case 'chunk':
          stream.enqueue(word.bytes);
          taken();
          break;
        case 'end':
          end();
          if (word.error !== undefined) fail(new TypeError(word.error));
          else stream.close();
          taken();
      }
    });
    const respond = ({ status, statusText, headers }: HeadWord): Response => {
      const source: UnderlyingDefaultSource<Uint8Array> = {
        start: (controller) => void (stream = controller),
        // One at a time: what is read faster than it comes asks only once.
        pull: () =>
          new Promise((resolve) => {
            taken = resolve;
            link.more(id);
          }),
        cancel: () => {
          end();
          link.cancel(id);
        },
      };
      const body = new ReadableStream(source);
      return new Response(EMPTY.includes(status) ? null : body, { status, statusText, headers });
    };
    signal?.addEventListener('abort', abort);
  });
}
