"""Every tool, defined once: its name, its arguments, and what an agent that has never seen this project must know.

A kernel's functions, an LLM's tool schemas and the MCP tools all come from here; what a tool does is in `tools/`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from ..errors import InvalidArguments
from .app import CONSOLE_KEY, MANIFEST_KEY, DomFormat
from .base import Data, Json
from .channel import Encoding
from .link import Content, Renderer


class Definition(NamedTuple):
    """A tool. Those that are not `for_agents` are what our own widgets need."""

    name: str
    description: str
    arguments: type[Data]
    read_only: bool = False
    destructive: bool = False
    for_agents: bool = True


WindowId = Annotated[
    str, Meta(description="The window, as list_windows names it. Without it: the active one, which was last set.")
]
Session = Annotated[
    str, Meta(description="The session (a notebook's path) of the window, where several have one of that id.")
]

SpokenTo = Annotated[str, Meta(description="As list_sessions names it; without it, this one. `new` makes a fresh one.")]

# ---- running applets


class AppQuery(Data, frozen=True):
    window_id: Annotated[str, Meta(description="The window with the applet, as list_windows names it.")]
    state_key: Annotated[
        str, Meta(description=f'A key of the manifest\'s state, or "{MANIFEST_KEY}" for the manifest itself.')
    ]
    session: Session | None = None


class AppCommand(Data, frozen=True):
    window_id: Annotated[str, Meta(description="The window with the applet, as list_windows names it.")]
    command: Annotated[str, Meta(description="A command of the manifest.")]
    params: Annotated[
        Json,
        Meta(
            description="As the command's `params` schema in the manifest says.", extra_json_schema={"type": "object"}
        ),
    ] = None
    session: Session | None = None


class SetAppletContent(Data, frozen=True):
    html: Annotated[str, Meta(description='A fragment, shown in <div id="appletView">, or a whole document.')]
    js: Annotated[
        str, Meta(description='JavaScript, run after the HTML is there; global, so that onclick="go()" finds go.')
    ] = ""
    css: Annotated[str, Meta(description="Styles for the applet.")] = ""
    title: Annotated[str, Meta(description="What people read on the applet's tab.")] = ""
    window_id: (
        Annotated[str, Meta(description="A window to replace, or the id of a new one. Without it: the active window.")]
        | None
    ) = None
    permissions: Annotated[
        dict[str, Json] | None,
        Meta(
            description='What the applet needs: {"files": "read" | "write", "network": ["https://…"], '
            '"clipboard": true}. What is not listed is asked of the person when it happens.'
        ),
    ] = None
    session: Session | None = None


class GetAppletState(Data, frozen=True):
    window_id: WindowId | None = None
    key: Annotated[str, Meta(description="Only this key of the state.")] | None = None
    selector: (
        Annotated[str, Meta(description="A CSS selector: read the live document instead of the state.")] | None
    ) = None
    format: Annotated[DomFormat, Meta(description="With a selector: elements as json, or their text.")] = "json"
    session: Session | None = None


class SetAppletState(Data, frozen=True):
    data: Annotated[dict[str, Json], Meta(description="Keys and values, merged into the state.")]
    window_id: WindowId | None = None
    session: Session | None = None


class GetAppletLogs(Data, frozen=True):
    window_id: WindowId | None = None
    session: Session | None = None


class CloseWindowTool(Data, frozen=True):
    window_id: Annotated[str, Meta(description="The window, as list_windows names it.")]
    session: Session | None = None


class SendMessageTool(Data, frozen=True):
    prompt: Annotated[str, Meta(description="What to say to the agent.")]
    wait: Annotated[
        bool, Meta(description="Wait for the answer, and get its text, the tool calls made, and the state set.")
    ] = False
    session: SpokenTo | None = None


class GetMessages(Data, frozen=True):
    limit: Annotated[int, Meta(description="How many messages, of the last ones.", ge=1, le=1000)] = 50
    session: SpokenTo | None = None


class EndTurn(Data, frozen=True):
    stream_id: str
    text: str = ""
    error: str | None = None
    code: str | None = None


class NoArguments(Data, frozen=True):
    pass


# ---- saved applets

Slug = Annotated[str, Meta(description="Its name in the store: lowercase letters, digits and inner hyphens.")]


class SaveApplet(Data, frozen=True):
    slug: Slug
    name: Annotated[str, Meta(description="What people read in lists; by default the window's title.")] | None = None
    description: Annotated[str, Meta(description="One sentence that says what it is for.")] | None = None
    window_id: WindowId | None = None
    permissions: (
        Annotated[dict[str, Json], Meta(description="As in set_applet_content; by default its own.")] | None
    ) = None
    session: Session | None = None


class LoadApplet(Data, frozen=True):
    slug: Slug
    window_id: (
        Annotated[
            str,
            Meta(
                description="A window to replace, or the id of a new one. Without it: the window that shows it, "
                "else a new one of its name."
            ),
        ]
        | None
    ) = None
    session: Session | None = None


class DeleteApplet(Data, frozen=True):
    slug: Slug


# ---- files

Path = Annotated[str, Meta(description="Relative to the Jupyter server's root folder, or absolute and inside it.")]


class ReadFileTool(Data, frozen=True):
    path: Path


class WriteFileTool(Data, frozen=True):
    path: Path
    content: Annotated[str, Meta(description="The whole new content.")]
    encoding: Annotated[Encoding, Meta(description="base64 for bytes that are no text.")] = "utf-8"
    if_match: (
        Annotated[str, Meta(description="Write only if the file still has this version, as read_file told it.")] | None
    ) = None


class ListFilesTool(Data, frozen=True):
    path: Path = ""


# ---- for our own widgets


class OpenWindow(Data, frozen=True):
    window_id: str
    revision: int
    content: Content
    renderer: Renderer = "iframe"
    state: dict[str, Json] | None = None


class StreamContent(Data, frozen=True):
    window_id: str
    revision: int
    html: str


class WindowName(Data, frozen=True):
    window_id: str
    session: str | None = None


class RevokePermission(Data, frozen=True):
    window_id: str
    permission: str | None = None
    session: str | None = None


class ReadApplet(Data, frozen=True):
    slug: str


_HOW_TO = """\
Build an applet, a small web app that the person sees at once, or replace the one that is shown.

The code runs in a sandboxed iframe, offline: no CDN, no external script, image or font, unless `permissions` lists its
origin. Write plain HTML, CSS and JavaScript. Use the CSS variables --applet-background, --applet-foreground,
--applet-muted, --applet-accent, --applet-border so that it looks right in a light and in a dark notebook.

In the JavaScript there are:
  setAppletState({key: value})   expose what matters, on every change; you read it with get_applet_state
  onStateUpdate(data => …)       hear what you push with set_applet_state
  applet.app.register({…})       declare state and commands, which you use with app_query and app_command
  applet.app.sendInteraction(s)  tell you that the person did something
  await readFile(path), writeFile(path, text), listFiles(path), subscribeFile(path, callback)   the person's files

Example:
  html: <label>Name <input id="name"></label> <button onclick="add()">Add</button> <ul id="list"></ul>
  js: const names = [];
      function add(params) {
        names.push(params?.name ?? document.getElementById('name').value);
        document.getElementById('list').innerHTML = names.map(n => `<li>${n}</li>`).join('');
        setAppletState({ names });
        return { ok: true, count: names.length };
      }
      applet.app.register({
        appId: 'names', name: 'Names',
        state: { names: { description: 'All names', handler: () => names } },
        commands: { add: { description: 'Add a name', handler: add,
          params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } } },
      });

Gives back the windowId. Look at the result with get_applet_state(selector: "body", format: "text"), at errors with
get_applet_logs, and keep what the person likes with save_applet.\
"""

_ALL = [
    Definition("set_applet_content", _HOW_TO, SetAppletContent, destructive=True),
    Definition(
        "get_applet_state",
        "Read what an applet exposes with setAppletState, as `state`, with `activeSlug` (the saved applet that runs, "
        "or null), `appletTitle`, `hasApplet` and `windowId`. With `selector`, read the live document instead: a "
        "list of elements (tag, text, value, …) or, with format text, their text, a line each.",
        GetAppletState,
        read_only=True,
    ),
    Definition(
        "set_applet_state",
        "Push values to a running applet: they are merged into its state, and its onStateUpdate(data => …) is called. "
        'Example: {"data": {"progress": 50, "status": "Processing…"}}.',
        SetAppletState,
    ),
    Definition(
        "save_applet",
        "Keep the applet that a window shows, with its state, as files in applets/<slug>/, where people and you can "
        "read and edit them. Saving under the same slug again replaces it. Gives back the paths.",
        SaveApplet,
    ),
    Definition(
        "load_applet",
        "Show a saved applet, with the state it was saved with. Call list_applets first to see which there are. It "
        "gives back the windowId, not the content: read that from the files whose paths list_applets gives.",
        LoadApplet,
        destructive=True,
    ),
    Definition(
        "list_applets",
        "All saved applets: slug, name, description, and the full paths of their files, which you may read and edit; "
        "an applet that is shown reloads by itself when its files change. A broken one comes with the reason.",
        NoArguments,
        read_only=True,
    ),
    Definition(
        "delete_applet",
        "Remove a saved applet. Its folder is moved away, not erased: the result says where to.",
        DeleteApplet,
        destructive=True,
    ),
    Definition(
        "app_query",
        f'Read a state key of a running applet. Ask for "{MANIFEST_KEY}" first: it lists the state keys and commands, '
        f'with their JSON Schemas. "{CONSOLE_KEY}" is what it logged.',
        AppQuery,
        read_only=True,
    ),
    Definition(
        "app_command",
        f'Run a command of a running applet and get its result. app_query(windowId, "{MANIFEST_KEY}") lists the '
        "commands and their params.",
        AppCommand,
        destructive=True,
    ),
    Definition(
        "list_windows",
        "The applets that are open now: windowId, session, title, slug, whether a page shows it, whether it is ready. "
        "Call this first.",
        NoArguments,
        read_only=True,
    ),
    Definition(
        "close_window",
        "Close a window wherever it is shown. A saved applet stays saved.",
        CloseWindowTool,
        destructive=True,
    ),
    Definition(
        "get_applet_logs",
        "What an applet wrote to its console, and what it threw. Look here when it does not do what it should.",
        GetAppletLogs,
        read_only=True,
    ),
    Definition(
        "read_file",
        "Read a file of the person's workspace: `content` (with `encoding` base64 for what is no text) and `version`.",
        ReadFileTool,
        read_only=True,
    ),
    Definition(
        "write_file",
        "Write a file of the person's workspace, whole. The version before is kept as a backup. Gives back `version`.",
        WriteFileTool,
        destructive=True,
    ),
    Definition(
        "list_files",
        "List a folder of the person's workspace: name, type (file or directory), size, modified.",
        ListFilesTool,
        read_only=True,
    ),
    Definition(
        "send_message",
        "Say something to the agent that answers in a session, as a person does in its chat. Gives back sessionId and "
        "streamId at once, or, with `wait`, the answer.",
        SendMessageTool,
    ),
    Definition(
        "get_messages",
        "What was said in a session: role, source (user, applet, agent, assistant), content, tool calls, errors.",
        GetMessages,
        read_only=True,
    ),
    Definition(
        "list_sessions",
        "The sessions that there are: id (a notebook's path, mostly), the agent that answers, turns under way.",
        NoArguments,
        read_only=True,
    ),
    Definition("end_turn", "An agent is through with a turn.", EndTurn, for_agents=False),
    Definition("open_window", "Give a window its content.", OpenWindow, for_agents=False),
    Definition("push_state", "What a window's own widget pushes.", SetAppletState, for_agents=False),
    Definition("stream_content", "More HTML of a content that is streaming.", StreamContent, for_agents=False),
    Definition("export_window", "All that a window holds.", WindowName, for_agents=False),
    Definition("read_applet", "The content and state of a saved applet.", ReadApplet, for_agents=False),
    Definition("get_decisions", "What people have allowed a window's applet.", WindowName, for_agents=False),
    Definition("revoke_permission", "Take back what people have decided.", RevokePermission, for_agents=False),
]

DEFINITIONS = {definition.name: definition for definition in _ALL}


def for_agents() -> list[Definition]:
    return [definition for definition in _ALL if definition.for_agents]


def parameters(definition: Definition) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, whole in itself."""
    (_, components) = msgspec.json.schema_components([definition.arguments])
    schema = dict(components[definition.arguments.__name__])
    schema.pop("title", None)
    schema["properties"] = {name: _plain(of) for name, of in schema.get("properties", {}).items()}
    schema.setdefault("required", [])
    schema["additionalProperties"] = False
    return schema


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the choice of null, which is how Python says that an argument may be left out."""
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        schema = {**options[0], **{k: v for k, v in schema.items() if k not in ("anyOf", "default")}}
    return {k: v for k, v in schema.items() if not (k == "default" and v is None)}


def schemas(style: Literal["openai", "anthropic"] = "openai") -> list[dict[str, Any]]:
    """Every tool for agents, as the APIs of LLMs take them."""
    if style == "anthropic":
        return [{"name": d.name, "description": d.description, "input_schema": parameters(d)} for d in for_agents()]
    if style == "openai":
        return [
            {
                "type": "function",
                "function": {"name": d.name, "description": d.description, "parameters": parameters(d)},
            }
            for d in for_agents()
        ]
    raise InvalidArguments(f"There is no style {style!r}: give 'openai' or 'anthropic'.", ["openai", "anthropic"])
