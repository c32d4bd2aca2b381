/** Where the Jupyter server of this page is, as its page config says. */

interface PageConfig {
  baseUrl?: unknown;
  wsUrl?: unknown;
  token?: unknown;
}

function readConfig(): PageConfig | null {
  const text = document.getElementById('jupyter-config-data')?.textContent;
  if (!text) return null;
  try {
    const config: unknown = JSON.parse(text);
    return typeof config === 'object' ? config : null;
  } catch {
    return null;
  }
}

/** The address of a session's socket, or null when this is not a page of a Jupyter server. */
export function socketUrl(session: string): string | null {
  const config = readConfig();
  if (typeof config?.baseUrl !== 'string') return null;
  const base = new URL(typeof config.wsUrl === 'string' && config.wsUrl ? config.wsUrl : config.baseUrl, location.href);
  base.protocol = base.protocol.replace('http', 'ws');
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  const url = new URL('applets/ws/applet', base);
  url.searchParams.set('session', session);
  if (typeof config.token === 'string' && config.token) url.searchParams.set('token', config.token);
  return url.href;
}
