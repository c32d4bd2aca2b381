/** Owns the content security policy of an applet's frames: nothing external, except the origins it lists. */

// Only what the CSP grammar calls a host source: a name with an optional leading wildcard and an optional port. Anything
// else could end the directive, or mean more than the author of the list can see.
const ORIGIN = /^(https?|wss?):\/\/((?:\*\.)?[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)*)(:\d{1,5})?\/?$/i;

export interface Network {
  origins: string[];
  /** What `permissions.network` lists and no policy can express; shown to the author. */
  refused: string[];
}

/** The origin in the form a policy takes, or null. */
export function policyOrigin(entry: unknown): string | null {
  const match = typeof entry === 'string' ? ORIGIN.exec(entry) : null;
  return match && `${match[1]}://${match[2]}${match[3] ?? ''}`.toLowerCase();
}

export function listedNetwork(permissions: Record<string, unknown>): Network {
  const listed = permissions['network'];
  const entries: unknown[] = Array.isArray(listed) ? listed : listed === undefined || listed === null ? [] : [listed];
  const network: Network = { origins: [], refused: [] };
  for (const entry of entries) {
    const origin = policyOrigin(entry);
    if (origin === null) network.refused.push(typeof entry === 'string' ? entry : JSON.stringify(entry));
    else if (!network.origins.includes(origin)) network.origins.push(origin);
  }
  return network;
}

/** The whole policy. Stands in the outer frame, because `frame-src` must bind the inner frame's own navigations. */
export function contentPolicy(origins: readonly string[]): string {
  const loads = origins.filter((origin) => origin.startsWith('http')).join(' ');
  // `data:` and `blob:` are the applet's own bytes: reading them tells nobody anything.
  const own = `data: blob: ${loads}`.trim();
  const sockets = origins.map((origin) => origin.replace(/^http/, 'ws'));
  const connect = [...new Set([...origins, ...sockets])].join(' ');
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' ${own}`,
    `style-src 'unsafe-inline' ${own}`,
    `img-src ${own}`,
    `font-src ${own}`,
    `media-src ${own}`,
    'worker-src data: blob:',
    `connect-src data: blob: ${connect}`.trim(),
    "frame-src 'none'",
    "form-action 'none'",
  ].join('; ');
}
