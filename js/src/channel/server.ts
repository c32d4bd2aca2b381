/** Where the Jupyter server of this page is, as its page config says, and how to speak to it. */

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

function below(base: string, path: string, parameters: Record<string, string>): URL {
  const root = new URL(base, location.href);
  if (!root.pathname.endsWith('/')) root.pathname += '/';
  const url = new URL(`applets/${path}`, root);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** The address of one of our paths, or null when this is not a page of a Jupyter server. */
export function serverUrl(path: string, parameters: Record<string, string>): string | null {
  const config = readConfig();
  return typeof config?.baseUrl === 'string' ? below(config.baseUrl, path, parameters).href : null;
}

/** The address of a session's socket, or null when this is not a page of a Jupyter server. */
export function socketUrl(session: string): string | null {
  const config = readConfig();
  if (typeof config?.baseUrl !== 'string') return null;
  const token = typeof config.token === 'string' && config.token ? { token: config.token } : {};
  const base = typeof config.wsUrl === 'string' && config.wsUrl ? config.wsUrl : config.baseUrl;
  const url = below(base, 'ws/applet', { session, ...token });
  url.protocol = url.protocol.replace('http', 'ws');
  return url.href;
}

/** What a request needs to be taken for the user's own, as Lab's are. */
export function fetchOptions(): { credentials: 'same-origin'; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  const token = readConfig()?.token;
  if (typeof token === 'string' && token) headers['Authorization'] = `token ${token}`;
  const xsrf = /(?:^|;\s*)_xsrf=([^;]+)/.exec(document.cookie)?.[1];
  if (xsrf) headers['X-XSRFToken'] = xsrf;
  return { credentials: 'same-origin', headers };
}
