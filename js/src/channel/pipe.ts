/** What a channel needs of whatever carries its frames: a socket, or a widget's comm. */

/** A message with its JSON, made once, so that its size is known before it is sent. */
export interface Encoded {
  message: object;
  text: string;
}

export interface PipeEvents {
  /** The pipe carries messages, from the first on: say hello. */
  opened(): void;
  received(messages: unknown[]): void;
  /** Nothing can be sent until `opened` comes again. */
  lost(): void;
  /** There is no host at the other end, and never was. */
  unreachable(): void;
  /** The page goes away, and the other end cannot see that: this is the last moment to send. */
  leaving(): void;
}

export interface Pipe {
  /**
   * How long the host may take for its first word, in milliseconds, before its views do without; null where it is waited
   * for: whether an applet may run is not for its page to say.
   */
  readonly patience: number | null;
  start(events: PipeEvents): void;
  /** One frame. */
  send(batch: Encoded[]): void;
  stop(): void;
}
