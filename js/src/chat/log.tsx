/**
 * Owns the scrolling log of a chat. Only rows near the view are rendered; what a person looks at stays where it is when
 * rows above it come, go or get their real heights; who is at the end stays at the end.
 */

import { Component, createRef } from 'preact';
import type { Context, LogControls } from './context.js';
import { type Anchor, Heights, type Range } from './heights.js';
import { RowView } from './message.js';
import { estimateRow, type Row } from './rows.js';

/** How far beyond the view rows are rendered, and how near they must be before more are. */
const MARGIN = 900;
const SLACK = 400;
const NEAR_END = 48;
/** Rows that turn out higher or lower than thought bring others into view, and those again; this often at once. */
const MAX_ROUNDS = 6;

interface Props {
  rows: Row[];
  context: Context;
  busy: boolean;
  /** There are older messages, and somebody comes near them. */
  nearTop: () => void;
  isLoadingOlder: boolean;
}

const sameKeys = (a: Row[], b: Row[]): boolean => a.length === b.length && a.every((row, i) => row.key === b[i]?.key);

/** What has the focus; in a shadow tree, of what is there. */
const focusIn = (element: Element): Element | null => (element.getRootNode() as Document | ShadowRoot).activeElement;
const isNowhere = (element: Element): boolean => [null, document.body].includes(focusIn(element) as HTMLElement | null);

export class Log extends Component<Props> implements LogControls {
  readonly #heights = new Heights();
  readonly #scroller = createRef<HTMLDivElement>();
  readonly #block = createRef<HTMLDivElement>();
  readonly #resized = new ResizeObserver((entries) => this.#onResize(entries));
  readonly #observed = new Map<Element, string>();
  #rows: Row[] = [];
  #isAtEnd = true;
  /** Something came while the person was elsewhere. */
  #hasNew = false;
  #hadFocus = false;
  #anchor: Anchor | null = null;
  #range: Range = { first: 0, last: 0 };
  #view = { width: 640, height: 480 };
  /** Out of sight (another tab of Lab): nothing can be measured, and the browser may forget where it was. */
  #isHidden = false;
  #top = 0;
  #rounds = 0;

  readonly toEnd = (): void => {
    this.#isAtEnd = true;
    this.forceUpdate();
  };

  readonly hold = (): void => {
    this.#isAtEnd = false;
    this.#anchor = this.#heights.anchorAt(this.#top);
  };

  override componentDidMount(): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    this.props.context.log = this;
    this.#resized.observe(scroller);
    this.#readView();
    this.forceUpdate();
  }

  override componentWillUnmount(): void {
    this.props.context.log = null;
    this.#resized.disconnect();
  }

  override componentDidUpdate(): void {
    this.#settle();
  }

  override render({ rows, context, busy, isLoadingOlder }: Props) {
    this.#take(rows);
    this.#hadFocus ||= this.#hasFocus();
    const { first, last } = (this.#range = this.#heights.range(this.#wantedTop(), this.#view.height, MARGIN));
    return (
      <div class="jac-log-frame">
        <div class="jac-log" ref={this.#scroller} onScroll={this.#onScroll} tabIndex={0} role="log" aria-live="off" aria-label="Conversation" aria-busy={busy ? 'true' : 'false'}>
          <div class="jac-space" style={{ height: `${this.#heights.total}px` }}>
            <div class="jac-rows" ref={this.#block} style={{ top: `${this.#heights.offsetOf(first)}px` }}>
              {rows.slice(first, last).map((row) => (
                <RowView key={row.key} row={row} context={context} />
              ))}
            </div>
          </div>
        </div>
        {isLoadingOlder && <div class="jac-older" role="status">Loading earlier messages…</div>}
        {!this.#isAtEnd && (
          <button type="button" class="jac-to-end" onClick={this.toEnd} title="To the newest message">
            {this.#hasNew ? '↓ New messages' : '↓'}
          </button>
        )}
      </div>
    );
  }

  #take(rows: Row[]): void {
    if (rows === this.#rows) return;
    if (!sameKeys(rows, this.#rows)) {
      const isNew = rows.at(-1)?.key !== this.#rows.at(-1)?.key && this.#rows.length > 0;
      if (isNew) this.#hasNew = true;
      const keys = rows.map(({ key }) => key);
      this.#heights.setRows(keys, (place) => estimateRow(rows[place] as Row, this.#view.width));
    }
    this.#rows = rows;
    if (this.#isAtEnd) this.#hasNew = false;
  }

  /** Where the view is to begin. */
  #wantedTop(): number {
    const end = Math.max(0, this.#heights.total - this.#view.height);
    if (this.#isAtEnd || !this.#anchor) return this.#isAtEnd ? end : Math.min(this.#top, end);
    return Math.min(this.#heights.topOf(this.#anchor) ?? this.#top, end);
  }

  /** After each rendering: rows have heights now, so that the place of all may be another. */
  #settle(): void {
    const scroller = this.#scroller.current;
    if (!scroller || this.#isHidden || !scroller.clientHeight) return;
    if (this.#measureRows() && this.#rounds < MAX_ROUNDS) {
      this.#rounds += 1;
      this.forceUpdate();
      return;
    }
    this.#rounds = 0;
    this.#scrollTo(this.#wantedTop());
    // A row that had the focus and is out of view is gone: the next key is for the log, not for the notebook.
    if (this.#hadFocus && !this.#hasFocus() && isNowhere(scroller)) scroller.focus({ preventScroll: true });
    this.#hadFocus = false;
    if (!this.#isAtEnd && this.#toEnd() < NEAR_END) {
      this.#isAtEnd = true;
      this.forceUpdate();
    }
    if (this.#range.first < 40 && this.#top < 4 * this.#view.height) this.props.nearTop();
  }

  /** Whether any has another height than was thought. */
  #measureRows(): boolean {
    const elements = this.#block.current?.children ?? [];
    let isNews = false;
    const there = new Set<Element>(elements);
    for (const element of this.#observed.keys()) {
      if (there.has(element)) continue;
      this.#resized.unobserve(element);
      this.#observed.delete(element);
    }
    [...elements].forEach((element, i) => {
      const key = this.#rows[this.#range.first + i]?.key;
      if (key === undefined) return;
      if (!this.#observed.has(element)) this.#resized.observe(element);
      this.#observed.set(element, key);
      isNews = this.#heights.measure(key, element.getBoundingClientRect().height) || isNews;
    });
    return isNews;
  }

  #scrollTo(top: number): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    if (Math.abs(scroller.scrollTop - top) >= 0.5) scroller.scrollTop = top;
    // The browser rounds.
    this.#top = scroller.scrollTop;
  }

  readonly #onScroll = (): void => {
    const scroller = this.#scroller.current;
    if (!scroller || this.#isHidden || !scroller.clientHeight) return;
    const top = scroller.scrollTop;
    const isUp = top < this.#top - 1;
    const isMoved = Math.abs(top - this.#top) >= 1;
    this.#top = top;
    if (!isMoved) return;
    this.#anchor = this.#heights.anchorAt(top);
    const wasAtEnd = this.#isAtEnd;
    // What grows while somebody is at its end moves the end away; only going up leaves it.
    if (this.#toEnd() < NEAR_END) this.#isAtEnd = true;
    else if (isUp) this.#isAtEnd = false;
    const { first, last } = this.#heights.range(top, this.#view.height, SLACK);
    const isOutside = first < this.#range.first || last > this.#range.last;
    if (isOutside || wasAtEnd !== this.#isAtEnd) this.forceUpdate();
  };

  #onResize(entries: ResizeObserverEntry[]): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    if (!scroller.clientHeight) {
      this.#isHidden = true;
      return;
    }
    const wasHidden = this.#isHidden;
    this.#isHidden = false;
    const isOther = entries.some(({ target }) => target === scroller) && this.#readView();
    if (isOther || wasHidden || this.#measureRows()) this.forceUpdate();
  }

  /** Whether the view has another size. */
  #readView(): boolean {
    const scroller = this.#scroller.current;
    if (!scroller?.clientHeight) return false;
    const { clientWidth: width, clientHeight: height } = scroller;
    const { width: before, height: high } = this.#view;
    this.#view = { width, height };
    if (width !== before) {
      this.#heights.forget();
      this.#heights.setRows(
        this.#rows.map(({ key }) => key),
        (place) => estimateRow(this.#rows[place] as Row, width),
      );
    }
    return width !== before || height !== high;
  }

  #toEnd(): number {
    return this.#heights.total - this.#top - this.#view.height;
  }

  #hasFocus(): boolean {
    const scroller = this.#scroller.current;
    return scroller?.contains(focusIn(scroller)) ?? false;
  }
}
