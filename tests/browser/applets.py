"""Applets that several tests show, as the cells that make and display them."""

from __future__ import annotations

from typing import Any

# The seed's own example, with a person's part: a button, and a grid that can be read from the page.
SHEET_JS = """
const cells = {};
function render() {
  grid.innerHTML = Object.entries(cells).map(([at, value]) => `<tr><th>${at}</th><td>${value}</td></tr>`).join('');
}
window.yaar.app.register({
  appId: 'sheet',
  name: 'Sheet',
  state: {
    cells: { description: 'All cell values keyed by address', handler: () => ({ ...cells }) },
  },
  commands: {
    setCells: {
      description: 'Set one or more cell values',
      params: {
        type: 'object',
        properties: { cells: { type: 'object', additionalProperties: { type: 'string' } } },
        required: ['cells'],
      },
      handler: (params) => {
        Object.assign(cells, params.cells);
        render();
        return { ok: true, count: Object.keys(params.cells).length };
      },
    },
  },
});
"""
SHEET_HTML = """
<table id=grid></table>
<button onclick="yaar.app.sendInteraction('User clicked save')">Save</button>
"""

# Tells the runs of a command apart: the first and only one, and those that bring a document to where another is.
COUNTER_JS = """
let count = 0;
const runs = [];
function run(by, context) {
  count += by;
  runs.push({ by, replayed: context.replayed });
  total.textContent = count;
}
applet.app.register({
  appId: 'counter',
  name: 'Counter',
  state: { count: { handler: () => count }, runs: { handler: () => runs } },
  commands: {
    add: { handler: ({ by }, context) => (run(by, context), count) },
    announce: { replay: 'never', handler: ({ by }, context) => run(by, context) },
    jump: { replay: 'last', handler: ({ by }, context) => run(by, context) },
    fail: { handler: ({ by }, context) => { run(by, context); throw new Error('failed after all'); } },
  },
});
"""
COUNTER_HTML = "<output id=total>0</output>"

# Restored by a snapshot rather than by commands. `kept` is what the last snapshot holds.
NOTE_JS = """
let times = 0;
applet.app.register({
  appId: 'note',
  state: {
    text: { snapshot: true, handler: () => (window.kept = text.value) },
    hydrated: { handler: () => times },
  },
  commands: { append: { handler: ({ more }) => { text.value += more; } } },
  hydrate: (state) => { times += 1; text.value = state.text; },
});
"""
NOTE_HTML = "<textarea id=text></textarea>"


def applet_cell(name: str = "app", **content: Any) -> str:
    """Make and display an applet; `name` is its window's id and its variable."""
    given = {"window_id": name, **content}
    arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"from jupyter_applets import *\n{name} = Applet({arguments})\ndisplay({name})"


SHEET = applet_cell("sheet", html=SHEET_HTML, js=SHEET_JS, css="th { color: gray }", title="Sheet")
COUNTER = applet_cell("counter", html=COUNTER_HTML, js=COUNTER_JS)
NOTE = applet_cell("note", html=NOTE_HTML, js=NOTE_JS)
