"""A large file into an applet, beside the page's own fetch of the same file from the same server."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .figures import Contender, Target
from .stage import Stage

MEGABYTES = 100
NAME = "large.bin"

INTO_APPLET = f"{MEGABYTES} MB file into an applet"
FETCH = f"{MEGABYTES} MB plain fetch in the page"

# At least 0.8 times the speed is at most 1.25 times the time.
TARGETS = [Target(INTO_APPLET, FETCH, most=1.25)]

_APPLET = f"""
from jupyter_applets import Applet
app = Applet(html="<p>Files</p>", permissions={{"files": "read"}}, height=60, js='''
  applet.app.register({{ appId: 'files', name: 'Files', commands: {{ read: {{ replay: 'never', handler: async () => {{
    const began = performance.now();
    const bytes = await readFile('{NAME}', {{ as: 'bytes' }});
    return [bytes.byteLength, (performance.now() - began) / 1000];
  }} }} }} }});
''')
display(app); app.query("manifest")
"""
_READ = f"""
from tests.bench.kernel import report
size, seconds = app.command("read")
assert size == {MEGABYTES} * 1_000_000
report([seconds])
"""
_FETCH = f"""async () => {{
  const config = JSON.parse(document.getElementById('jupyter-config-data').textContent);
  const began = performance.now();
  const headers = {{ Authorization: 'token ' + config.token }};
  const answer = await fetch(config.baseUrl + 'files/{NAME}', {{ headers, cache: 'no-store' }});
  const bytes = await answer.arrayBuffer();
  return [bytes.byteLength, (performance.now() - began) / 1000];
}}"""


def contenders(stage: Stage) -> Iterator[Contender]:
    lab = stage.lab("ours")
    block = os.urandom(1_000_000)
    with (lab.root / NAME).open("wb") as file:
        for _ in range(MEGABYTES):
            file.write(block)
    notebook = stage.notebook("ours", [_APPLET, _READ])
    notebook.run_cell(0)

    def fetch() -> list[float]:
        size, seconds = notebook.page.evaluate(_FETCH)
        assert size == MEGABYTES * 1_000_000
        return [seconds]

    yield Contender("g", INTO_APPLET, lambda: [notebook.measure(1)[0] for _ in range(3)])
    yield Contender("g", FETCH, lambda: [fetch()[0] for _ in range(3)])
