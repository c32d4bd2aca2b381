// Generated from jupyter_applets/protocol by `make protocol`. Do not edit.

export const PROTOCOL = 1;
export const MAX_MESSAGE_BYTES = 16777216;

export type Json = any;

/** What a state key holds. `snapshot` asks the host to keep its value and hand it to `hydrate` after a reload. */
export interface StateDescriptor {
  description?: string;
  schema?: Record<string, Json> | boolean | null;
  snapshot?: boolean;
}

/** What a command does. `replay` says what a reloaded applet gets: every call, only the newest, or none. */
export interface CommandDescriptor {
  description?: string;
  params?: Record<string, Json> | boolean | null;
  returns?: Record<string, Json> | boolean | null;
  replay?: "always" | "last" | "never" | null;
}

/** What an applet says it can do. `replay` is the default for commands that do not say. */
export interface AppManifest {
  appId?: string;
  name?: string;
  state?: Record<string, StateDescriptor>;
  commands?: Record<string, CommandDescriptor>;
  replay?: "always" | "last" | "never" | null;
}

/** File types an applet opens: `command` is called with the file's content under `paramKey`. */
export interface FileAssociation {
  extensions: string[];
  command: string;
  paramKey: string;
}

export interface ManifestRequest {
  type: "yaar:app-manifest-request";
  requestId: string;
}

export interface QueryRequest {
  type: "yaar:app-query-request";
  requestId: string;
  stateKey: string;
}

export interface CommandRequest {
  type: "yaar:app-command-request";
  requestId: string;
  command: string;
  params?: Json;
  replayed?: boolean;
}

export interface HydrateRequest {
  type: "yaar:app-hydrate-request";
  requestId: string;
  state: Record<string, Json>;
}

export interface ManifestResponse {
  type: "yaar:app-manifest-response";
  requestId: string;
  manifest?: AppManifest | null;
  error?: string | null;
  code?: string;
}

export interface QueryResponse {
  type: "yaar:app-query-response";
  requestId: string;
  data?: Json;
  error?: string | null;
  code?: string;
}

export interface CommandResponse {
  type: "yaar:app-command-response";
  requestId: string;
  result?: Json;
  error?: string | null;
  code?: string;
}

export interface HydrateResponse {
  type: "yaar:app-hydrate-response";
  requestId: string;
  error?: string | null;
  code?: string;
}

/** Sent on `register`. Our SDK adds the manifest; an applet that speaks for itself may send the `appId` alone. */
export interface AppReady {
  type: "yaar:app-ready";
  appId?: string;
  manifest?: AppManifest | null;
  hydrates?: boolean;
}

export interface AppInteraction {
  type: "yaar:app-interaction";
  content: string;
}

/** The values of the state keys marked `snapshot`, with every command in them that was answered before. */
export interface AppSnapshot {
  type: "yaar:app-snapshot";
  state: Record<string, Json>;
}

/** One console call or uncaught error. Arguments are already text: an applet's objects stay in the applet. */
export interface AppConsole {
  type: "yaar:console";
  level: "debug" | "error" | "info" | "log" | "warn";
  args: string[];
  timestamp: number;
}

export interface ManifestAsk {
  kind: "manifest";
}

export interface QueryAsk {
  kind: "query";
  stateKey: string;
}

export interface CommandAsk {
  kind: "command";
  command: string;
  params?: Json;
  replayed?: boolean;
}

export interface HydrateAsk {
  kind: "hydrate";
  state: Record<string, Json>;
}

/** `seq` counts the window's requests, so that whoever reads along sees a gap. */
export interface AppProtocolRequest {
  type: "APP_PROTOCOL_REQUEST";
  requestId: string;
  windowId: string;
  request: ManifestAsk | QueryAsk | CommandAsk | HydrateAsk;
  seq?: number | null;
  timeoutMs?: number | null;
  viewId?: string | null;
}

export interface ManifestAnswer {
  kind: "manifest";
  manifest: AppManifest | null;
  error?: string | null;
  code?: string | null;
}

export interface QueryAnswer {
  kind: "query";
  data?: Json;
  error?: string | null;
  code?: string | null;
}

export interface CommandAnswer {
  kind: "command";
  result?: Json;
  error?: string | null;
  code?: string | null;
}

export interface HydrateAnswer {
  kind: "hydrate";
  error?: string | null;
  code?: string | null;
}

export interface AppProtocolResponse {
  type: "APP_PROTOCOL_RESPONSE";
  requestId: string;
  windowId: string;
  response: ManifestAnswer | QueryAnswer | CommandAnswer | HydrateAnswer;
}

/** An applet registered. A new `document` is a reload (restore it); the same one registered again (do not). `revision` is that of the content which the document shows. */
export interface AppProtocolReady {
  type: "APP_PROTOCOL_READY";
  windowId: string;
  viewId?: string | null;
  document?: number | null;
  manifest?: AppManifest | null;
  hydrates?: boolean;
  revision?: number | null;
}

/** What a window shows. `appProtocol` false means that the applet did not opt in to queries and commands. */
export interface Content {
  html?: string;
  js?: string;
  css?: string;
  title?: string;
  permissions?: Record<string, Json>;
  modules?: Record<string, string>;
  height?: number | string | null;
  appProtocol?: boolean;
}

/** One iframe as its page knows it; repeated in `Hello` after a cut, so that nothing is mounted or replayed again. `revision` is that of the content it shows. `document` counts the loads of the frame. `settled` says that a host has had this document before: it is as it should be, and is not to be restored. */
export interface ViewState {
  viewId: string;
  windowId: string;
  revision?: number;
  document?: number;
  ready?: boolean;
  settled?: boolean;
  manifest?: AppManifest | null;
  hydrates?: boolean;
  snapshot?: Record<string, Json> | null;
  title?: string;
}

/** The first message of a peer. `id` is the kernel's id or one made by the page, the same after a reconnect. */
export interface Hello {
  type: "hello";
  protocol: number;
  version: string;
  role: "kernel" | "page";
  session: string;
  id: string;
  views?: ViewState[];
}

export interface Welcome {
  type: "welcome";
  protocol: number;
  version: string;
  hostId: string;
  maxMessageBytes: number;
}

/** With `id`, the one reply to that call; without, what was wrong with a message that asked nothing. */
export interface ErrorReply {
  type: "error";
  code: string;
  message: string;
  id?: string | null;
  names?: string[];
}

/** A tool by name. `timeoutMs` is the caller's deadline, and the only one. */
export interface Call {
  type: "call";
  id: string;
  name: string;
  arguments?: Record<string, Json>;
  timeoutMs?: number | null;
}

export interface Cancel {
  type: "cancel";
  id: string;
}

/** `note` tells the caller what it should know of how the answer came about (another view answered). */
export interface Result {
  type: "result";
  id: string;
  value?: Json;
  note?: string | null;
}

export interface WindowReady {
  type: "windowReady";
  windowId: string;
  manifest?: AppManifest | null;
}

export interface WindowClosed {
  type: "windowClosed";
  windowId: string;
}

export interface ViewOpened {
  type: "viewOpened";
  view: ViewState;
}

export interface ViewClosed {
  type: "viewClosed";
  viewId: string;
}

export interface Snapshot {
  type: "snapshot";
  windowId: string;
  viewId: string;
  state: Record<string, Json>;
}

export interface ConsoleEntry {
  level: "debug" | "error" | "info" | "log" | "warn";
  args: string[];
  timestamp: number;
}

export interface Interaction {
  type: "interaction";
  windowId: string;
  content: string;
}

/** `dropped` counts what an applet logged too fast to be carried. */
export interface ConsoleLines {
  type: "console";
  windowId: string;
  entries: ConsoleEntry[];
  dropped?: number;
}

/** The view shows an older revision than the host has: show this one. */
export interface WindowContent {
  type: "windowContent";
  windowId: string;
  revision: number;
  content: Content;
}

export type Ask = ManifestAsk | QueryAsk | CommandAsk | HydrateAsk;
export type Answer = ManifestAnswer | QueryAnswer | CommandAnswer | HydrateAnswer;
export type PortRequest = ManifestRequest | QueryRequest | CommandRequest | HydrateRequest;
export type PortResponse = ManifestResponse | QueryResponse | CommandResponse | HydrateResponse;
export type PortNotice = AppReady | AppInteraction | AppSnapshot | AppConsole;
export type FromKernel = Hello | Call | Cancel;
export type ToKernel = Welcome | ErrorReply | Result | WindowReady | WindowClosed | Interaction | ConsoleLines;
export type FromPage = Hello | ViewOpened | ViewClosed | AppProtocolReady | AppProtocolResponse | Snapshot | Interaction | ConsoleLines;
export type ToPage = Welcome | ErrorReply | AppProtocolRequest | WindowContent | WindowClosed;
