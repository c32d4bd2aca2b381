"""What bad input gets: an error that says what is wrong, and an applet that still answers afterwards."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .applets import SHEET, applet_cell
from .notebook import Notebook

# Handlers that return or throw what applets return and throw.
ODD_JS = """
let reached = 0;
const cycle = { name: 'cycle' };
cycle.self = cycle;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const says = (handler) => ({ description: '', handler });
applet.app.register({
  appId: 'odd',
  state: {
    reached: says(() => reached),
    bigint: says(() => ({ id: 10n })),
    cyclic: says(() => cycle),
    symbol: says(() => Symbol('s')),
    huge: says(() => 'x'.repeat(50e6)),
    fits: says(() => 'é'.repeat(7e6)),
    nothing: says(() => {}),
    holes: says(() => [undefined, NaN, new Date(0)]),
    late: says(async () => { await wait(20); return 'late'; }),
    thrown: says(() => { throw new TypeError('no such row'); }),
    rejected: says(async () => { await wait(5); throw new Error('came to nothing'); }),
    text: says(() => { throw 'only a text'; }),
    never: says(() => new Promise(() => {})),
  },
  commands: {
    add: {
      description: 'Add to a number',
      params: { type: 'object', properties: { by: { type: 'integer', minimum: 1 } }, required: ['by'] },
      handler: ({ by }) => { reached += 1; return by + 1; },
    },
    nothing: says(async () => { await wait(5); }),
    params: says((params) => params),
    break: says(() => { throw new RangeError('out of range'); }),
  },
});
"""


@pytest.fixture
def odd(notebook: Notebook) -> Notebook:
    notebook.run(applet_cell("odd", js=ODD_JS))
    return notebook


# ── what was asked for does not exist ────────────────────────────────────────────────────────────────────────────────


def test_unknown_window_lists_the_open_ones(notebook: Notebook) -> None:
    notebook.run(SHEET)
    name, message = notebook.error("app_query('shett', 'cells')")
    assert name == "WindowNotFound"
    assert "'shett'" in message
    assert "sheet" in message.split("Open windows:")[1]


def test_applet_that_never_registers_is_said_to_have_not(notebook: Notebook) -> None:
    notebook.run(applet_cell("mute", html="<p>I say nothing", js="console.log('here I am')"))
    name, message = notebook.error("mute.query('cells', timeout=0.5)")
    assert name == "NotReady"
    assert "register" in message
    # Its console can be read all the same, without a wait.
    assert notebook.value("app_query('mute', '__console')")[0]["args"] == ["here I am"]


def test_applet_that_no_page_shows_is_said_to_be_shown_nowhere(notebook: Notebook) -> None:
    notebook.run("hidden = Applet(html='<p>', window_id='hidden')")
    name, message = notebook.error("hidden.query('cells', timeout=0.3)")
    assert name == "NotShown"
    assert "display it" in message


def test_unknown_names_get_the_known_ones(odd: Notebook) -> None:
    name, message = odd.error("odd.query('bigints')")
    assert name == "UnknownStateKey"
    assert "bigint, cyclic" in message
    name, message = odd.error("odd.command('ad', by=1)")
    assert name == "UnknownCommand"
    assert "add, nothing, params, break" in message


def test_state_key_and_command_mistaken_for_each_other_are_named_as_such(odd: Notebook) -> None:
    assert "'late' is a state key" in odd.error("odd.command('late')")[1]
    assert "'add' is a command" in odd.error("odd.query('add')")[1]


# ── params ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("params", ["{}", "{'by': '1'}", "{'by': 0}", "{'by': 1.5}"])
def test_params_that_break_the_schema_never_reach_the_handler(odd: Notebook, params: str) -> None:
    name, message = odd.error(f"odd.command('add', {params})")
    assert name == "InvalidParams"
    assert "add" in message
    assert odd.value("odd.query('reached')") == 0


def test_params_over_the_limit_are_refused_and_the_connection_stays(odd: Notebook) -> None:
    name, message = odd.error("odd.command('params', text='x' * 20_000_000)")
    assert name == "TooLarge"
    assert "20.0 MB" in message
    assert "max_message_bytes" in message
    assert odd.value("odd.command('params', {'a': [1, None]})") == {"a": [1, None]}


def test_params_that_are_not_json_are_refused_in_the_kernel(odd: Notebook) -> None:
    name, message = odd.error("odd.command('params', what=object())")
    assert name == "InvalidArguments"
    assert "object" in message
    assert odd.error("await odd.acommand('params', what='\\ud800')")[0] == "InvalidArguments"
    assert odd.value("odd.command('params', {'a': 1})") == {"a": 1}


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("key", "why"), [("bigint", "BigInt"), ("cyclic", "circular"), ("symbol", "symbol")])
def test_result_that_json_cannot_hold_is_said_to_be_so(odd: Notebook, key: str, why: str) -> None:
    name, message = odd.error(f"odd.query({key!r})")
    assert name == "ResultNotJson"
    assert why in message


def test_result_of_fifty_megabytes_is_refused_and_the_connection_stays(odd: Notebook) -> None:
    name, message = odd.error("odd.query('huge')")
    assert name == "TooLarge"
    assert "50.0 MB" in message
    assert "16.8 MB" in message
    assert odd.value("[odd.query('late'), len(odd.query('fits'))]") == ["late", 7_000_000]


def test_undefined_is_none_and_json_decides_the_rest(odd: Notebook) -> None:
    assert odd.value("[odd.query('nothing'), odd.command('nothing'), odd.command('params')]") == [None, None, {}]
    assert odd.value("odd.query('holes')") == [None, None, "1970-01-01T00:00:00.000Z"]


def test_async_handlers_are_awaited(odd: Notebook) -> None:
    assert odd.value("[odd.query('late'), await odd.aquery('late')]") == ["late", "late"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("odd.query('thrown')", "no such row"),
        ("odd.query('rejected')", "came to nothing"),
        ("odd.query('text')", "only a text"),
        ("odd.command('break')", "out of range"),
    ],
)
def test_handler_that_throws_is_told_with_its_message(odd: Notebook, call: str, why: str) -> None:
    name, message = odd.error(call)
    assert name == "HandlerFailed"
    assert why in message
    # No traceback on the wire: the author finds it in the logs.
    assert "applet.js" not in message


def test_handler_that_never_answers_ends_at_the_callers_deadline(odd: Notebook) -> None:
    name, message = odd.error("odd.query('never', timeout=0.3)")
    assert name == "CallTimeout"
    assert "'never'" in message
    assert odd.value("odd.query('late')") == "late"


# ── what the applet logs ─────────────────────────────────────────────────────────────────────────────────────────────

LOUD_JS = """
applet.app.register({ appId: 'loud', state: { late: { handler: () => 1 } } });
console.log('plain', { a: [1, 2n] }, document.createElement('hr'));
console.error(new Error('handed over'));
console.warn('careful');
Promise.reject(new Error('nobody caught me'));
setTimeout(function late() { undefinedFunction(); });
"""


def test_console_and_uncaught_errors_reach_python(notebook: Notebook) -> None:
    notebook.run(applet_cell("loud", js=LOUD_JS))
    lines = notebook.run(
        "import time\n"
        "end = time.monotonic() + 5\n"
        "while len(loud.query('__console')) < 5 and time.monotonic() < end: loud.query('late')\n"
        "for entry in loud.query('__console'): print(entry['level'], '|', *entry['args'])"
    )
    text = notebook.output_text(lines)
    assert 'log | plain {"a":[1,"2n"]} <hr>' in text
    assert "error | Error: handed over" in text
    assert "warn | careful" in text
    assert "error | Uncaught Error: nobody caught me (applet.js:6:16)" in text
    assert "error | Uncaught ReferenceError: undefinedFunction is not defined (applet.js:7:30)" in text
    # The same in Python's own log, which is filled without a question; and it can be read by a person.
    shown = notebook.run("loud.logs")
    assert "careful" in notebook.output_text(shown)
    assert notebook.value("[entry.level for entry in loud.logs]") == ["log", "error", "warn", "error", "error"]


# ── what the applet posts ────────────────────────────────────────────────────────────────────────────────────────────

JUNK_JS = """
const junk = [
  null, 1, 'yaar:app-ready', [], {}, { type: 1 }, { type: 'yaar:' }, { type: 'yaar:app-query-response' },
  { type: 'yaar:app-query-response', requestId: 7, data: 1 },
  { type: 'yaar:app-command-response', requestId: 'req-1', result: 'forged' },
  { type: 'yaar:app-interaction', content: { not: 'text' } },
  { type: 'yaar:console', level: 'loudest', args: 'none', timestamp: 'now' },
  { type: 'yaar:app-snapshot', state: [1] },
  { type: 'applet:size', height: 9999 }, { type: 'applet:hello', key: 'guess' }, { type: 'applet:port' },
  { type: 'APP_PROTOCOL_RESPONSE', requestId: 'req-1', windowId: 'junk', response: { kind: 'query', data: 'forged' } },
  { type: 'yaar:app-query-response', requestId: 'req-1', data: new Map([[1, 2n]]) },
];
function spill() {
  for (const message of junk) {
    for (const target of [parent, parent.parent, top]) target.postMessage(message, '*');
  }
  for (let i = 0; i < 50; i++) {
    parent.postMessage({ type: 'yaar:app-query-response', requestId: `req-${i}`, data: 'forged' }, '*');
  }
  return junk.length;
}
applet.app.register({
  appId: 'junk',
  state: { spilled: { handler: spill }, real: { handler: () => 'real' } },
});
"""


def test_messages_of_the_wrong_shape_are_ignored(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("junk", html="<p>junk", js=JUNK_JS))
    values = notebook.value("[v for _ in range(5) for v in (junk.query('spilled'), junk.query('real'))]")
    assert values == [18, "real"] * 5
    # Nor is the frame as tall as a message said that did not come from the SDK.
    expect(notebook.applet(cell).get_by_text("junk")).to_be_visible()
    expect(notebook.cell(cell).locator(".jupyter-applet iframe")).not_to_have_css("height", "9999px")


def test_messages_of_another_frame_are_not_taken_for_the_applets(notebook: Notebook) -> None:
    notebook.run(SHEET)
    # A frame of the page's that is not an applet, such as one in an HTML output; and an applet's neighbour.
    forge = """
      for (const type of ['yaar:app-query-response', 'yaar:app-ready', 'applet:hello', 'yaar:app-interaction'])
        for (let id = 0; id < 20; id++) for (const target of [parent, parent.parent, top, ...top, ...parent])
          target.postMessage({ type, requestId: `req-${id}`, data: 'forged', content: 'forged', appId: 'forged' }, '*');
    """
    notebook.run("heard = []\nsheet.on_interaction(heard.append)\nsheet.query('cells')")
    # srcdoc, because a frame that is not sandboxed at all is the harder case.
    frame = f'<iframe srcdoc="<script>setInterval(() => {{ {forge} }}, 20)</script>"></iframe>'
    notebook.run(f"from IPython.display import HTML\nHTML({frame!r})")
    notebook.run(applet_cell("neighbour", js=f"setInterval(() => {{ {forge} }}, 20)"))
    assert notebook.value("[sheet.query('cells') for _ in range(50)] == [{}] * 50") is True
    assert notebook.value("[heard, sheet.manifest.app_id]") == [[], "sheet"]
    assert notebook.error("neighbour.query('cells', timeout=1)")[0] in {"UnknownStateKey", "NotReady"}


def test_second_register_replaces_the_first_with_a_warning_and_no_replay(notebook: Notebook) -> None:
    js = """
      const runs = [];
      const register = (version) => applet.app.register({
        appId: 'twice',
        state: { [version]: { handler: () => runs } },
        commands: { run: { handler: (_, { replayed }) => { runs.push([version, replayed]); } },
                    again: { replay: 'never', handler: () => register('second') } },
      });
      register('first');
    """
    notebook.run(applet_cell("twice", js=js))
    notebook.run("twice.command('run'), twice.query('first'), twice.command('again')")
    assert notebook.value("twice.command('run') or twice.query('second')") == [["first", False], ["second", False]]
    assert notebook.error("twice.query('first')")[0] == "UnknownStateKey"
    assert notebook.value("any('register' in entry.text and entry.level == 'warn' for entry in twice.logs)") is True
    assert notebook.value("list(twice.manifest.state)") == ["second"]
