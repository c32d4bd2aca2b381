/** Owns what only the page can do for the applet: one reply to each call. No clock runs: a person may be asked. */

import type { Reply, SdkCall } from '../frame/messages.js';
import type { Port } from './port.js';

export class CallError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

export type Call = <T>(method: SdkCall['method'], args: SdkCall['args'], transfer?: Transferable[]) => Promise<T>;

export class Calls {
  #last = 0;
  readonly #pending = new Map<number, { resolve(value: never): void; reject(error: CallError): void }>();

  constructor(private readonly port: Port) {}

  readonly call: Call = (method, args, transfer) =>
    new Promise((resolve, reject) => {
      const id = (this.#last += 1);
      this.#pending.set(id, { resolve, reject });
      this.port.send({ type: 'applet:call', id, method, args }, transfer);
    });

  settle({ id, value, error, code }: Reply): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(value as never);
    else pending?.reject(new CallError(error, code ?? 'INTERNAL_ERROR'));
  }
}
