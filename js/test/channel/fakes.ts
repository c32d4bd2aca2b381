/** A pipe and a view that write down what a channel does with them. */

import type { ChannelView } from '../../src/channel/channel.js';
import type { Encoded, Pipe, PipeEvents } from '../../src/channel/pipe.js';
import type { AppProtocolRequest, ContentChunk, FileChanged, FromPage, StateUpdate, ViewState, WindowContent } from '../../src/protocol.gen.js';

export class FakePipe implements Pipe {
  /** As a socket's; a comm has some. */
  constructor(readonly patience: number | null = null) {}

  events!: PipeEvents;
  frames: unknown[][] = [];
  stopped = false;

  start(events: PipeEvents): void {
    this.events = events;
  }
  send(batch: Encoded[]): void {
    this.frames.push(batch.map(({ text }) => JSON.parse(text)));
  }
  stop(): void {
    this.stopped = true;
  }
  /** What was sent since the last call. */
  take(): any[][] {
    return this.frames.splice(0);
  }
}

export class FakeView implements ChannelView {
  batches: AppProtocolRequest[][] = [];
  told: unknown[][] = [];

  constructor(
    readonly viewId: string,
    readonly windowId: string,
    readonly fields: Partial<ViewState> = {},
  ) {}

  state(): ViewState {
    return { viewId: this.viewId, windowId: this.windowId, ...this.fields };
  }
  request(requests: AppProtocolRequest[]): void {
    this.batches.push(requests);
  }
  showWindow({ revision, content }: WindowContent): void {
    this.told.push(['content', revision, content]);
  }
  showChunk({ at, html }: ContentChunk): void {
    this.told.push(['chunk', at, html]);
  }
  updateState({ data, rev }: StateUpdate): void {
    this.told.push(['state', data, rev]);
  }
  fileChanged({ path, event }: FileChanged): void {
    this.told.push(['file', path, event]);
  }
  showClosed(): void {
    this.told.push(['closed']);
  }
  showRefusal(message: string): void {
    this.told.push(['refusal', message]);
  }
  unreachable(kept: FromPage[]): void {
    this.told.push(['unreachable', kept]);
  }
}
