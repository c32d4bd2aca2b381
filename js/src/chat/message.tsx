/** Owns a row of the log: a prompt in the colour of who said it, or an answer. The same live and after a reload. */

import { Component } from 'preact';
import { AnswerView } from './answer.js';
import type { Context } from './context.js';
import { OutputView } from './outputs.js';
import type { Row } from './rows.js';
import { fullTime, shortTime } from './time.js';
import type { Prompt } from './transcript.js';

function PromptView({ prompt, context }: { prompt: Prompt; context: Context }) {
  const { source, slug, text, timestamp, image } = prompt;
  const look = source === 'applet' ? ' applet-invoked' : source === 'agent' ? ' agent-invoked' : '';
  const said = source === 'user' ? 'You said: ' : source === 'applet' ? 'Applet said: ' : 'Other agent said: ';
  const time = shortTime(timestamp);
  return (
    <>
      <div
        class={`message user${look}`}
        role="article"
        data-applet-source={source === 'applet' ? (slug ?? 'applet') : undefined}
        data-agent-source={source === 'agent' ? (slug ?? 'agent') : undefined}
      >
        <span class="jac-hidden">{said}</span>
        {text && <div class="jac-prompt">{text}</div>}
        {image !== null && <OutputView output={{ name: image, mime: 'image/png' }} context={context} />}
      </div>
      {time && (
        <time class="jac-time" dateTime={timestamp} title={fullTime(timestamp)}>
          {time}
        </time>
      )}
    </>
  );
}

interface Props {
  row: Row;
  context: Context;
}

export class RowView extends Component<Props> {
  /** Turns are replaced, never changed. */
  override shouldComponentUpdate({ row }: Props): boolean {
    const { turn } = this.props.row;
    return row.kind === 'prompt' ? row.turn.prompt !== turn.prompt : row.turn.answer !== turn.answer;
  }

  override render({ row: { kind, turn }, context }: Props) {
    return (
      <div class={`jac-row jac-row-${kind}`}>
        {kind === 'prompt' && turn.prompt && <PromptView prompt={turn.prompt} context={context} />}
        {kind === 'answer' && turn.answer && <AnswerView answer={turn.answer} streamId={turn.streamId} context={context} />}
      </div>
    );
  }
}
