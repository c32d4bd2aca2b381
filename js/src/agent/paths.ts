/** Owns which of the server's paths an applet can reach, and by which methods. There is no other way to any other. */

/** What an applet may put into a query. */
const QUERY = ['session', 'hidden', 'limit', 'before'];

const ROUTES: [path: RegExp, methods: string[]][] = [
  [/^sessions$/, ['GET', 'POST']],
  [/^sessions\/[^/]+\/messages$/, ['POST']],
  [/^message$/, ['POST']],
  [/^stream\/[\w-]{1,128}$/, ['GET', 'DELETE']],
  [/^history$/, ['GET']],
];

export interface Target {
  /** Below the server's `api/`. */
  path: string;
  query: Record<string, string>;
}

/** Why an applet does not get there; `status` is the HTTP status that says so. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A session's id as one part of a path. Ids are paths of notebooks, too; none of them leads up. */
function encoded(part: string): string {
  try {
    const id = decodeURIComponent(part);
    // What a proxy might decode once more is as bad.
    const isPlain = !/[\\\p{C}]|%(?:2e|2f|5c)/iu.test(id) && !id.split('/').some((step) => /^\.+$/.test(step));
    if (isPlain) return encodeURIComponent(id);
  } catch {
    // No UTF-8: no session is called so.
  }
  throw new Refused(400, 'INVALID_ARGUMENTS', 'That is not the id of a session.');
}

export function target(method: string, url: string): Target {
  const [, path = '', search = ''] = /^\/api\/([^?#\\]*?)\/?(?:\?([^#]*))?$/.exec(url) ?? [];
  const methods = ROUTES.find(([route]) => route.test(path))?.[1];
  if (!methods) throw new Refused(404, 'NOT_FOUND', 'An applet can reach api/sessions, api/message, api/stream and api/history.');
  if (!methods.includes(method)) throw new Refused(405, 'METHOD_NOT_ALLOWED', `${method.slice(0, 20)} is not understood here.`);
  const query = Object.fromEntries(new URLSearchParams(search));
  const unknown = Object.keys(query).find((name) => !QUERY.includes(name));
  if (unknown !== undefined) throw new Refused(400, 'INVALID_ARGUMENTS', `There is no '${unknown.slice(0, 40)}' here. There are ${QUERY.join(', ')}.`);
  const [root = '', id, ...rest] = path.split('/');
  return { path: id === undefined ? root : [root, encoded(id), ...rest].join('/'), query };
}
