/**
 * Owns the loading of what few applets need and so no widget carries: once per page and version.
 * From the server, or, where it cannot be reached, from the widget's kernel.
 */

import type { CommModel } from './channel/comm.js';
import { fetchOptions, serverUrl } from './channel/server.js';
import { shared } from './channel/shared.js';

export interface BundleModel extends CommModel {
  get(name: '_route' | '_version'): string;
}

/** A kernel in a long cell does not answer before the cell ends; what waits can then be tried again. */
const KERNEL_WAIT = 30_000;

async function fromServer(name: string, version: string): Promise<string> {
  const url = serverUrl(`static/${name}`, { v: version });
  if (url === null) throw new Error('This is not a page of a Jupyter server.');
  const response = await fetch(url, fetchOptions());
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}.`);
  return response.text();
}

function fromKernel(model: BundleModel, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      model.off('msg:custom', heard);
    };
    const heard = (content: unknown): void => {
      const message = (content ?? {}) as Record<string, unknown>;
      if (message['kind'] !== 'bundle' || message['name'] !== name) return;
      end();
      if (typeof message['text'] === 'string') resolve(message['text']);
      else reject(new Error(String(message['error'])));
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error(`The kernel did not send ${name}.`));
    }, KERNEL_WAIT);
    model.on('msg:custom', heard);
    model.send({ kind: 'bundle', name });
  });
}

/** Made once per key; what failed is tried again by the next who asks. */
function once<T>(kept: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let promise = kept.get(key);
  if (!promise) {
    promise = make();
    kept.set(key, promise);
    promise.catch(() => kept.delete(key));
  }
  return promise;
}

export function loadText(model: BundleModel, name: string): Promise<string> {
  const version = model.get('_version');
  return once(shared().texts, `${name} ${version}`, () => {
    const kernel = (): Promise<string> => fromKernel(model, name);
    return model.get('_route') === 'server' ? fromServer(name, version).catch(kernel) : kernel();
  });
}

/** The module that one of our bundles is. As text on both routes: a page's policy that lets a widget's module run lets this one. */
export function importText(text: string): Promise<unknown> {
  return once(shared().modules, text, async () => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    try {
      return await import(/* @vite-ignore */ url);
    } finally {
      URL.revokeObjectURL(url);
    }
  });
}

export const loadModule = async (model: BundleModel, name: string): Promise<unknown> => importText(await loadText(model, name));
