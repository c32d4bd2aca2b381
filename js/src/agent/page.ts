/**
 * The page's half of an applet's way to the agent, loaded when an applet first takes it: calls of the agent over the channel,
 * and requests to the server about sessions. `sdk` gives the other half, which runs in the applet's document.
 */

import { AskError, codeOf } from '../channel/asked.js';
import type { Channel, ChannelView } from '../channel/channel.js';
import { randomId } from '../channel/shared.js';
import type { Caller, Consent, Need } from '../consent.js';
import { shown } from '../dom.js';
import type { Invoke } from '../protocol.gen.js';
import { request, toldHeaders } from './http.js';
import { checkOptions, checkPrompt, sentOptions } from './options.js';
import type { InvokeWord, RequestWord, ToAgentSdk } from './words.js';

/** Put in by the build. */
declare const __AGENT_SDK__: string;
export const sdk = (): string => __AGENT_SDK__;

/** So many things one document may have under way. */
const MAX_OPEN = 100;

/** How much of a prompt a person is shown. */
const MAX_PROMPT = 80;

/** What a connection is given of its view. Views may come from another copy of these modules: plain calls only. */
export interface Connected extends Caller {
  view: Pick<ChannelView, 'windowId'>;
  channel(): Channel;
  consent: Pick<Consent, 'name' | 'try'>;
}

/** The same for those who do something for the applet. */
export interface Page extends Connected {
  byPerson(): boolean;
  /** Done as the applet may; where a person has to agree, they are asked about `prompt`, or about the sessions as such. */
  mayAsk<T>(prompt: string | null, attempt: (consent: boolean) => Promise<T>): Promise<T>;
}

interface Open {
  cancel(): void;
  more(): void;
}

/** Answers an applet's document on `port`, until what it returns is called. The agent's turns go on without the document. */
export function connect(port: unknown, connected: Connected): () => void {
  // No message carries a function, except as a port's.
  if (typeof (port as MessagePort | undefined)?.postMessage !== 'function') throw new AskError('INVALID_ARGUMENTS', 'agent: there is no port.');
  const connection = new Connection(port as MessagePort, connected);
  return () => connection.close();
}

class Connection {
  readonly #open = new Map<number, Open>();
  readonly #page: Page;
  readonly #closed = new AbortController();

  constructor(
    private readonly port: MessagePort,
    { view, channel, consent, revision, isCurrent }: Connected,
  ) {
    const needs = (prompt: string | null) => (code: string): Need | null => (code === 'PERMISSION_NEEDED' ? need(consent.name, prompt) : null);
    this.#page = {
      ...{ view, channel, consent, revision, isCurrent },
      byPerson: () => navigator.userActivation?.isActive ?? false,
      mayAsk: (prompt, attempt) => consent.try(isCurrent, needs(prompt), attempt),
    };
    port.onmessage = ({ data }) => this.#hear(data);
  }

  close(): void {
    this.#closed.abort();
    this.port.close();
  }

  #hear(word: unknown): void {
    // The applet can make its SDK say anything.
    const { type, id } = (word ?? {}) as Record<string, unknown>;
    if (typeof id !== 'number') return;
    const open = this.#open.get(id);
    if (type === 'cancel') return open?.cancel();
    if (type === 'more') return open?.more();
    if (open) return;
    if (this.#open.size >= MAX_OPEN) return this.#fail(id, new AskError('TOO_MANY_CALLS', `${MAX_OPEN} calls are under way already.`));
    const work = type === 'invoke' ? this.#invoke(word as InvokeWord) : this.#request(word as RequestWord);
    void work.catch((error: unknown) => this.#fail(id, error)).finally(() => this.#open.delete(id));
  }

  async #invoke({ id, prompt, options, imageData }: InvokeWord): Promise<void> {
    const name = `${randomId()}-${id}`;
    let isCancelled = false;
    this.#open.set(id, {
      cancel: () => {
        isCancelled = true;
        this.#page.channel().send([{ type: 'invokeCancel', id: name }]);
      },
      more: () => {},
    });
    checkPrompt(prompt);
    const { imageData: image, ...given } = checkOptions({ ...options, imageData });
    const value = await this.#page.mayAsk(prompt, async (consent) => {
      // While the person thought about it.
      if (isCancelled) throw new AskError('CANCELLED', 'The call was cancelled.');
      const { view, revision, byPerson, channel } = this.#page;
      const asked: Invoke = { type: 'invoke', id: name, windowId: view.windowId, revision, prompt, options: sentOptions(given), consent, byPerson: byPerson() };
      if (image) asked.imageData = image as string;
      const [reply] = await channel().ask(asked, (piece) => {
        if (piece.type === 'stream') this.#tell({ type: 'delta', id, delta: String(piece.delta) });
        else this.#tell({ type: 'status', id, status: piece.status, message: piece.message ?? '' });
      });
      return reply && 'result' in reply ? reply.result : null;
    });
    this.#tell({ type: 'end', id, value });
  }

  async #request(word: RequestWord): Promise<void> {
    const { id, method, path, headers, body } = word;
    if (typeof method !== 'string' || typeof path !== 'string' || typeof (body ?? '') !== 'string') throw new AskError('INVALID_ARGUMENTS', 'That is no request.');
    const abort = new AbortController();
    const wants = new Wants();
    const cancel = (): void => {
      abort.abort();
      wants.add();
    };
    this.#open.set(id, { cancel, more: () => wants.add() });
    // What changes something is done, also when the document has gone; its answer is then nobody's.
    const closed = this.#closed.signal;
    const leave = (): void => (method === 'GET' ? cancel() : wants.add());
    closed.addEventListener('abort', leave);
    try {
      const response = await request(this.#page, { ...word, headers: plain(headers) }, abort.signal);
      const { status, statusText } = response;
      this.#tell({ type: 'head', id, status, statusText, headers: toldHeaders(response.headers) });
      const reader = response.body?.getReader();
      while (reader) {
        await wants.next();
        if (closed.aborted || abort.signal.aborted) return await reader.cancel();
        const { done, value } = await reader.read();
        if (done) break;
        this.#tell({ type: 'chunk', id, bytes: value });
      }
      this.#tell({ type: 'end', id });
    } catch (error) {
      throw codeOf(error) === 'INTERNAL_ERROR' ? new AskError('LINK_LOST', `The server could not be reached: ${error}`) : error;
    } finally {
      closed.removeEventListener('abort', leave);
    }
  }

  #fail(id: number, error: unknown): void {
    this.#tell({ type: 'end', id, error: error instanceof Error ? error.message : String(error), code: error instanceof TypeError ? 'INVALID_ARGUMENTS' : codeOf(error) });
  }

  #tell(word: ToAgentSdk): void {
    this.port.postMessage(word);
  }
}

/** Owns how much the reader wants: nothing is read that it has no room for. */
class Wants {
  #count = 0;
  #wake = (): void => {};

  add(): void {
    this.#count += 1;
    this.#wake();
  }

  async next(): Promise<void> {
    if (!this.#count) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#count -= 1;
  }
}

const plain = (headers: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

function need(name: string, prompt: string | null): Need {
  const about = prompt === null ? 'its sessions' : shown(prompt, MAX_PROMPT);
  const text = (abouts: string): string => `${name} wants to speak with the agent: ${abouts}.`;
  return { key: 'agent', what: prompt ?? '', about, text, keeps: ['agent', true] };
}
