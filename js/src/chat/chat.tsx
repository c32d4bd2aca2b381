/** Owns a chat as a whole: who answers, the log, where a person writes, and what a screen reader says. */

import { Component, render } from 'preact';
import { installStyle } from '../dom.js';
import { Composer } from './composer.js';
import type { Context } from './context.js';
import { Log } from './log.js';
import { rowsOf, type Row } from './rows.js';
import type { Session } from './session.js';
import { STYLE } from './style.js';
import type { Turn } from './transcript.js';

const NO_AGENT = 'No agent answers here yet. Run a cell with @agent, or agent.echo() to try it out.';
/** As long as a screen reader needs to take it up; longer, and it is read a second time by who walks through the page. */
const ANNOUNCED_FOR = 1500;
const MAX_ANNOUNCED = 1000;
/** How many changes are shown between two frames, each for itself. */
const AT_ONCE = 4;

class App extends Component<{ session: Session }, { announcement: string }> {
  override state = { announcement: '' };
  readonly #context: Context = { session: this.props.session, opened: new Set(), log: null };
  #frame: number | null = null;
  #changes = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #turns: readonly Turn[] = [];
  #rows: Row[] = [];

  override componentDidMount(): void {
    const { session } = this.props;
    // The first few changes of a frame are shown as they come: a prompt, and the first word of its answer. Many pieces of
    // an answer come between two frames; they are shown as one.
    session.changed = () => {
      this.#changes += 1;
      if (this.#changes <= AT_ONCE) this.forceUpdate();
      this.#frame ??= requestAnimationFrame(() => {
        const isStale = this.#changes > AT_ONCE;
        this.#frame = null;
        this.#changes = 0;
        if (isStale) this.forceUpdate();
      });
    };
    session.announced = (text) => {
      clearTimeout(this.#silence);
      this.setState({ announcement: text.slice(0, MAX_ANNOUNCED) });
      this.#silence = setTimeout(() => this.setState({ announcement: '' }), ANNOUNCED_FOR);
    };
    session.start();
  }

  override componentWillUnmount(): void {
    const { session } = this.props;
    session.changed = session.announced = () => {};
    clearTimeout(this.#silence);
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
  }

  override render({ session }: { session: Session }) {
    const { transcript, notice, loadingOlder } = session;
    const { turns, start, agent, active } = transcript;
    if (turns !== this.#turns) {
      this.#turns = turns;
      this.#rows = rowsOf(turns);
    }
    const isOpen = start !== null;
    return (
      <>
        <div class="jac-head">
          <span class={`jac-dot${agent === null ? '' : ' jac-on'}`} aria-hidden="true" />
          <span class="jac-agent">{!isOpen ? 'Chat' : (agent ?? 'No agent')}</span>
        </div>
        {notice && (
          <div class={`jac-notice jac-${notice.kind}`} role={notice.kind}>
            <span>{notice.text}</span>
            {notice.retry ? (
              <button type="button" class="jac-link" onClick={notice.retry}>
                Try again
              </button>
            ) : (
              notice.kind === 'alert' && (
                <button type="button" class="jac-link" onClick={() => session.dismissNotice()}>
                  Dismiss
                </button>
              )
            )}
          </div>
        )}
        {this.#rows.length > 0 || !isOpen ? (
          <Log
            rows={this.#rows}
            context={this.#context}
            busy={active.size > 0}
            nearTop={() => void session.loadOlder()}
            isLoadingOlder={loadingOlder && !!start}
          />
        ) : (
          <div class="jac-welcome" role="status">
            {agent === null ? NO_AGENT : `${agent} answers here. What would you like to know?`}
          </div>
        )}
        <Composer session={session} isRunning={active.size > 0} agent={agent} sent={() => this.#context.log?.toEnd()} />
        <div class="jac-hidden" role="status" aria-live="polite">
          {this.state.announcement}
        </div>
      </>
    );
  }
}

export interface Mounted {
  setHeight(height: number | string): void;
  dispose(): void;
}

/** Keys, pastes and drops are the chat's: Lab and notebooks have their own meaning for them. */
const OURS = ['keydown', 'keyup', 'keypress', 'paste', 'copy', 'cut', 'dragover', 'drop', 'contextmenu'];

export function mount(el: HTMLElement, session: Session): Mounted {
  installStyle('jupyter-applet-chat-style', STYLE);
  const root = document.createElement('div');
  root.className = 'jupyter-applet-chat';
  root.setAttribute('data-lm-suppress-shortcuts', 'true');
  root.setAttribute('data-jp-suppress-context-menu', '');
  for (const name of OURS) root.addEventListener(name, (event) => event.stopPropagation());
  el.append(root);
  render(<App session={session} />, root);
  return {
    setHeight(height) {
      root.style.height = typeof height === 'string' ? height : `${height}px`;
    },
    dispose() {
      render(null, root);
      root.remove();
    },
  };
}
