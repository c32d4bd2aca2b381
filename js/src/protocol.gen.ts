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

export interface DomRequest {
  type: "yaar:app-dom-request";
  requestId: string;
  selector: string;
  format?: "json" | "text";
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

export interface DomResponse {
  type: "yaar:app-dom-response";
  requestId: string;
  data?: Json;
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

/** The elements that a CSS selector finds, as the page shows them now. */
export interface DomAsk {
  kind: "dom";
  selector: string;
  format?: "json" | "text";
}

/** `seq` counts the window's requests, so that whoever reads along sees a gap. */
export interface AppProtocolRequest {
  type: "APP_PROTOCOL_REQUEST";
  requestId: string;
  windowId: string;
  request: ManifestAsk | QueryAsk | CommandAsk | HydrateAsk | DomAsk;
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

export interface DomAnswer {
  kind: "dom";
  data?: Json;
  error?: string | null;
  code?: string | null;
}

export interface AppProtocolResponse {
  type: "APP_PROTOCOL_RESPONSE";
  requestId: string;
  windowId: string;
  response: ManifestAnswer | QueryAnswer | CommandAnswer | HydrateAnswer | DomAnswer;
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

/** Merge `data` into the window's state. `revision` is that of the content that set it: what an applet set while another took the window is not the other's. With an `id` it is acknowledged by a `result`. */
export interface SetState {
  type: "setState";
  data: Record<string, Json>;
  windowId?: string | null;
  viewId?: string | null;
  revision?: number | null;
  id?: string | null;
}

/** The applet has taken the update of that number; the next may come. What changed meanwhile comes as one. */
export interface StateSeen {
  type: "stateSeen";
  windowId: string;
  viewId: string;
  rev: number;
}

export interface ReadFile {
  type: "readFile";
  path: string;
  id?: string | null;
  windowId?: string | null;
  consent?: boolean;
  revision?: number | null;
}

/** `ifMatch` is the version that may be replaced. */
export interface WriteFile {
  type: "writeFile";
  path: string;
  content: string;
  encoding?: "base64" | "utf-8" | null;
  ifMatch?: string | null;
  id?: string | null;
  windowId?: string | null;
  consent?: boolean;
  revision?: number | null;
}

export interface ListFiles {
  type: "listFiles";
  path?: string;
  id?: string | null;
  windowId?: string | null;
  consent?: boolean;
  revision?: number | null;
}

/** Be told when the file, or, of a folder, one directly in it, changes. */
export interface Subscribe {
  type: "subscribe";
  path: string;
  id?: string | null;
  windowId?: string | null;
  consent?: boolean;
  revision?: number | null;
}

export interface Unsubscribe {
  type: "unsubscribe";
  path: string;
  id?: string | null;
  windowId?: string | null;
}

/** A person decided, for good or until it is taken back: `value` is as in `permissions`, or false for no. The permission `run` lets the applet's code run at all. */
export interface Permit {
  type: "permit";
  windowId: string;
  permission: string;
  value: Json;
  id?: string | null;
}

/** Take a decision back; without `permission`, all of them. */
export interface Revoke {
  type: "revoke";
  windowId: string;
  permission?: string | null;
  id?: string | null;
}

/** What was pushed: the keys that changed. */
export interface StateUpdate {
  type: "stateUpdate";
  data: Record<string, Json>;
  windowId?: string | null;
  viewId?: string | null;
  rev?: number;
}

/** One piece of a file, the last one `done`. Bytes that are no text come as base64, each piece whole by itself. */
export interface FileContent {
  type: "fileContent";
  path: string;
  chunk: string;
  done: boolean;
  encoding?: "base64" | "utf-8" | null;
  version?: string | null;
  id?: string | null;
  windowId?: string | null;
}

export interface FileWritten {
  type: "fileWritten";
  path: string;
  version: string;
  id?: string | null;
  windowId?: string | null;
}

export interface FileEntry {
  name: string;
  type: "directory" | "file";
  size: number;
  modified: string;
}

export interface FileList {
  type: "fileList";
  path: string;
  files: FileEntry[];
  id?: string | null;
  windowId?: string | null;
}

export interface FileChanged {
  type: "fileChanged";
  path: string;
  event: "created" | "deleted" | "modified";
  windowId?: string | null;
}

/** A tool that the agent used in a turn. While it is under way there is neither result nor error. */
export interface ToolCall {
  id: string;
  name: string;
  arguments?: Json;
  result?: Json;
  error?: string | null;
  done?: boolean;
}

/** What an agent displayed: the file of the session's `outputs/` that holds it, and its kind. */
export interface Output {
  name: string;
  mime: string;
  title?: string;
}

/** One message of a session as chats and the history show it. `index` counts those of the session. */
export interface ChatMessage {
  index: number;
  role: "assistant" | "user";
  source: "agent" | "applet" | "assistant" | "user";
  content: string;
  timestamp: string;
  streamId: string;
  appletSlug?: string | null;
  hidden?: boolean;
  status?: "done" | "queued" | "running";
  error?: string | null;
  toolCalls?: ToolCall[];
  outputs?: Output[];
  image?: string | null;
}

/** `session` is `active`, `background` (this one, out of sight), `new` (a fresh one) or the id of one. `timeout` is in milliseconds. `expectState` are keys of the applet's state that the agent is to set. */
export interface InvokeOptions {
  session?: string;
  showInChat?: boolean;
  waitForResult?: boolean;
  background?: boolean;
  timeout?: number | null;
  expectState?: string[];
}

/** An applet calls the agent. `byPerson` says that a person has just acted in the page. */
export interface Invoke {
  type: "invoke";
  prompt: string;
  options?: InvokeOptions;
  background?: boolean;
  id?: string | null;
  windowId?: string | null;
  appletSlug?: string | null;
  consent?: boolean;
  revision?: number | null;
  byPerson?: boolean;
  imageData?: string | null;
}

export interface InvokeCancel {
  type: "invokeCancel";
  id: string;
}

/** A person says something to the session's agent. Answered by a `result` with `{sessionId, streamId}`. */
export interface SendMessage {
  type: "sendMessage";
  prompt: string;
  id?: string | null;
  imageData?: string | null;
  appletState?: Record<string, Json> | null;
  correlationId?: string | null;
}

export interface CancelMessage {
  type: "cancelMessage";
  streamId: string;
  id?: string | null;
}

/** Show this session's messages: the last ones, or those before an index. Answered by a `result` with a `ChatPage`; from then on this page hears of all that happens in the chat. */
export interface OpenChat {
  type: "openChat";
  id: string;
  before?: number | null;
  limit?: number;
}

export interface CloseChat {
  type: "closeChat";
}

/** Answered by a `result` with `{name, mime, data}`: text, or base64 where it is none. */
export interface ReadOutput {
  type: "readOutput";
  id: string;
  name: string;
}

/** `messages` without the hidden ones, the oldest first; `start` is where they begin, 0 when nothing is before. */
export interface ChatPage {
  sessionId: string;
  messages: ChatMessage[];
  start: number;
  agent?: string | null;
}

export interface MessageStarted {
  type: "messageStarted";
  prompt: string;
  source: "agent" | "applet" | "user";
  streamId: string;
  showInChat: boolean;
  appletSlug: string | null;
  sessionId: string;
  timestamp: string;
  index: number;
  image?: string | null;
  correlationId?: string | null;
}

export interface StreamReady {
  type: "streamReady";
  streamId: string;
}

/** The same in the seed's other word. */
export interface StreamConnected {
  type: "streamConnected";
  streamId: string;
}

/** More of the answer; `at` is how many characters came before. With `id`, for the one who invoked by that id. */
export interface StreamDelta {
  type: "stream";
  delta: string;
  streamId?: string | null;
  at?: number | null;
  id?: string | null;
}

/** `queued` with why, then `running`. */
export interface MessageStatus {
  type: "messageStatus";
  streamId: string;
  status: "queued" | "running";
  message?: string;
  id?: string | null;
}

/** A tool call began, or, when it is `done`, ended. */
export interface ToolCalled {
  type: "toolCall";
  streamId: string;
  call: ToolCall;
}

export interface MessageOutput {
  type: "messageOutput";
  streamId: string;
  output: Output;
}

/** The turn has ended. `length` is that of the whole answer, so that a reader sees whether it has it all. */
export interface MessageDone {
  type: "messageDone";
  streamId: string;
  error?: string | null;
  code?: string | null;
  length?: number | null;
}

/** The one reply to an `invoke`: `{text, state, toolCalls}`, or `{sessionId, streamId}` if it does not wait. */
export interface InvokeComplete {
  type: "invokeComplete";
  id: string | null;
  result?: Json;
  error?: string | null;
  code?: string | null;
}

/** Who answers in this session; null when nobody does. */
export interface AgentStatus {
  type: "agentStatus";
  agent: string | null;
}

/** What was said before, for an agent. */
export interface HistoryItem {
  role: "assistant" | "user";
  content: string;
  source: "agent" | "applet" | "assistant" | "user";
  appletSlug?: string | null;
}

/** What an applet told with `sendInteraction` since the turn before. */
export interface InteractionItem {
  windowId: string;
  content: string;
  timestamp: string;
}

/** Answer this. `windowId` and `windowSession` are of the applet that asks, if one does. */
export interface Turn {
  type: "turn";
  streamId: string;
  sessionId: string;
  prompt: string;
  source: "agent" | "applet" | "user";
  timestamp: string;
  appletSlug?: string | null;
  windowId?: string | null;
  windowSession?: string | null;
  history?: HistoryItem[];
  interactions?: InteractionItem[];
  imageData?: string | null;
  correlationId?: string | null;
  hidden?: boolean;
  depth?: number;
}

export interface TurnCancel {
  type: "turnCancel";
  streamId: string;
}

/** A turn that this kernel is at: told again after a cut, perhaps to another host. */
export interface RunningTurn {
  turn: Turn;
  text: string;
  taken?: boolean;
}

/** This kernel answers for its session, from now on or still. All turns that it is at are in `running`. */
export interface AgentReady {
  type: "agentReady";
  agent: string;
  wakeOnInteraction?: boolean;
  running?: RunningTurn[];
}

export interface AgentGone {
  type: "agentGone";
}

/** The agent has begun with it. */
export interface TurnTaken {
  type: "turnTaken";
  streamId: string;
}

/** It has not, and why. */
export interface TurnWaits {
  type: "turnWaits";
  streamId: string;
  message: string;
}

export interface TurnDelta {
  type: "turnDelta";
  streamId: string;
  delta: string;
  at: number;
}

/** The agent displays something; `data` is base64 where `mime` is no text. */
export interface TurnOutput {
  type: "turnOutput";
  streamId: string;
  mime: string;
  data: string;
  title?: string;
}

/** A file that comes with an applet: as text, or, when it is none, as base64. */
export interface AppletFile {
  text?: string | null;
  base64?: string | null;
}

/** What a window shows. `appProtocol` false means that the applet did not opt in to queries and commands. `modules` are sources by the name that `import` uses, or `applet:/…` for one of `files`, which are by their path in the applet's folder. `streaming` means that more of the HTML is to come, and that no script runs before. */
export interface Content {
  html?: string;
  js?: string;
  css?: string;
  title?: string;
  permissions?: Record<string, Json>;
  modules?: Record<string, string>;
  height?: number | string | null;
  appProtocol?: boolean;
  slug?: string;
  files?: Record<string, AppletFile>;
  streaming?: boolean;
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
  state?: Record<string, Json> | null;
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

/** A tool by name. `timeoutMs` is the caller's deadline, and the only one. `turn` is that of the agent who calls. */
export interface Call {
  type: "call";
  id: string;
  name: string;
  arguments?: Record<string, Json>;
  timeoutMs?: number | null;
  turn?: string | null;
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

/** The keys of a window's state that changed. */
export interface StateChanged {
  type: "stateChanged";
  windowId: string;
  data: Record<string, Json>;
  rev: number;
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

/** A desk of this page shows the session's windows: tell which there are, now and whenever that changes. */
export interface WatchWindows {
  type: "watchWindows";
  watch?: boolean;
}

/** A person turned to this window: it is what a call without a window means. */
export interface Activate {
  type: "activate";
  windowId: string;
}

export interface CloseWindow {
  type: "closeWindow";
  windowId: string;
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

/** What a window shows, for one view (`viewId`), which waits for it before it loads, or for all. Without `content` the view has the right one. `run` is `ask` while a person has yet to let the code run. `granted` is what people have allowed beyond the content's own permissions; false stands for a no. A page that has taken `rev` says so by `stateSeen`. */
export interface WindowContent {
  type: "windowContent";
  windowId: string;
  revision: number;
  content?: Content | null;
  viewId?: string | null;
  state?: Record<string, Json>;
  rev?: number;
  granted?: Record<string, Json>;
  run?: "ask" | "run";
}

/** More of the HTML of a content that is `streaming`; `at` is how many characters came before. */
export interface ContentChunk {
  type: "contentChunk";
  windowId: string;
  revision: number;
  at: number;
  html: string;
}

export interface WindowInfo {
  windowId: string;
  title: string;
  renderer: "iframe" | "mcp-app" | "tree";
  slug: string;
  revision: number;
  ready: boolean;
  shown: boolean;
}

/** The windows of a session, for a desk; `active` is to be in front. */
export interface WindowList {
  type: "windows";
  windows: WindowInfo[];
  active?: string | null;
}

export type Ask = ManifestAsk | QueryAsk | CommandAsk | HydrateAsk | DomAsk;
export type Answer = ManifestAnswer | QueryAnswer | CommandAnswer | HydrateAnswer | DomAnswer;
export type PortRequest = ManifestRequest | QueryRequest | CommandRequest | HydrateRequest | DomRequest;
export type PortResponse = ManifestResponse | QueryResponse | CommandResponse | HydrateResponse | DomResponse;
export type PortNotice = AppReady | AppInteraction | AppSnapshot | AppConsole;
export type FromKernel = Hello | Call | Cancel | AgentReady | AgentGone | TurnTaken | TurnWaits | TurnDelta | TurnOutput;
export type ToKernel = Welcome | ErrorReply | Result | WindowReady | WindowClosed | Interaction | ConsoleLines | StateChanged | WindowContent | Turn | TurnCancel;
export type FromPage = Hello | ViewOpened | ViewClosed | AppProtocolReady | AppProtocolResponse | Snapshot | Interaction | ConsoleLines | WatchWindows | Activate | CloseWindow | SetState | StateSeen | ReadFile | WriteFile | ListFiles | Subscribe | Unsubscribe | Permit | Revoke | Invoke | InvokeCancel | SendMessage | CancelMessage | OpenChat | CloseChat | ReadOutput;
export type ToPage = Welcome | ErrorReply | Result | AppProtocolRequest | WindowContent | ContentChunk | WindowClosed | WindowList | StateUpdate | FileContent | FileWritten | FileList | FileChanged | MessageStarted | StreamReady | StreamConnected | StreamDelta | MessageStatus | ToolCalled | MessageOutput | MessageDone | InvokeComplete | AgentStatus;
