/** Owns `invokeAgent`: one prompt, what comes on the way, and the one result. */

import { checkOptions, checkPrompt, sentOptions } from '../../agent/options.js';
import { CallError } from '../calls.js';
import { callAll } from '../json.js';
import type { Link } from './link.js';

interface Kept {
  /** More of the answer, and all of it so far. */
  onDelta?(delta: string, textSoFar: string): unknown;
  onStatus?(status: { status: string; message: string }): unknown;
  signal?: AbortSignal;
  imageData?: string;
}

const aborted = ({ reason }: AbortSignal): Error =>
  Object.assign(new CallError('The call was cancelled.', 'CANCELLED'), { name: 'AbortError', cause: reason });

export async function invoke(link: Link, prompt: unknown, options: unknown = {}): Promise<unknown> {
  checkPrompt(prompt);
  const given = checkOptions(options);
  const { onDelta, onStatus, signal, imageData } = given as Kept;
  if (signal?.aborted) throw aborted(signal);
  let text = '';
  let abort: (() => void) | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const asked = { type: 'invoke' as const, prompt, options: sentOptions(given), ...(imageData ? { imageData } : {}) };
      const id = link.begin(asked, (word) => {
        switch (word.type) {
          case 'delta':
            text += word.delta;
            if (onDelta) callAll([onDelta], word.delta, text);
            break;
          case 'status':
            if (onStatus) callAll([onStatus], { status: word.status, message: word.message });
            break;
          case 'end':
            if (word.error === undefined) resolve(word.value);
            else reject(new CallError(word.error, word.code ?? 'INTERNAL_ERROR'));
        }
      });
      abort = () => {
        link.cancel(id);
        reject(aborted(signal as AbortSignal));
      };
      signal?.addEventListener('abort', abort);
    });
  } finally {
    if (abort) signal?.removeEventListener('abort', abort);
  }
}
