"""The peer: a bare anywidget whose view holds one sandboxed frame. It shows what a comm can do."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

import anywidget

ESM = r"""
const FRAME = `<script>
  addEventListener('message', ({ data }) => parent.postMessage(data, '*'));
  parent.postMessage({ id: 'loaded' }, '*');
<\/script>`;

function render({ model, el }) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.height = 60;
  frame.srcdoc = FRAME;
  addEventListener('message', ({ source, data }) => {
    if (source === frame.contentWindow) model.send(data);
  });
  model.on('msg:custom', (content) => frame.contentWindow.postMessage(content, '*'));
  el.append(frame);
  model.send({ id: 'rendered' });
}

export default { render };
"""


class Peer(anywidget.AnyWidget):
    """To be made and used in `async` cells, on a kernel that takes comm messages while a cell awaits."""

    _esm = ESM

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._asked = 0
        self._waiting: dict[Any, asyncio.Future[float]] = {}
        self.rendered = self._expect("rendered")
        self.loaded = self._expect("loaded")
        self.on_msg(self._received)

    async def ask(self) -> None:
        """Send a message to the frame, and wait for its answer."""
        self._asked += 1
        answer = self._expect(self._asked)
        self.send({"id": self._asked})
        await answer

    def _expect(self, what: Any) -> asyncio.Future[float]:
        future = self._waiting[what] = self._loop.create_future()
        return future

    def _received(self, _widget: Any, content: dict[str, Any], _buffers: Any) -> None:
        future = self._waiting.pop(content["id"])
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            future.set_result(perf_counter())
        else:
            # JupyterLab has comm messages taken on a thread of their own where the kernel offers that.
            self._loop.call_soon_threadsafe(future.set_result, perf_counter())
