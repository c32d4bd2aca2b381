"""The floor: the same road without Jupyter. Bare tornado sockets, one plain page, one sandboxed frame, Nagle off.

`server` relays between a client and the page, whose frame sends back what it gets. `client ADDRESS TIMES` is a thread
with a loop of its own and a main thread that blocks on it, as in a kernel.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import sys
import threading
from concurrent.futures import Future
from time import perf_counter
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClientConnection, WebSocketHandler, websocket_connect

WARM_UP = 30

PAGE = """<!doctype html><title>loading</title><link rel="icon" href="data:,">
<iframe sandbox="allow-scripts" srcdoc="<script>
  onmessage = ({ ports: [port] }) => { port.onmessage = ({ data }) => port.postMessage(data); };
</script>"></iframe>
<script>
  const { port1, port2 } = new MessageChannel();
  const socket = new WebSocket(`ws://${location.host}/ws/page`);
  socket.onmessage = ({ data }) => port1.postMessage(JSON.parse(data));
  port1.onmessage = ({ data }) => socket.send(JSON.stringify(data));
  onload = () => {
    document.querySelector('iframe').contentWindow.postMessage('port', '*', [port2]);
    const wait = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return;
      clearInterval(wait);
      document.title = 'ready';
    }, 10);
  };
</script>"""


class Document(RequestHandler):
    def get(self) -> None:
        self.write(PAGE)


class Relay(WebSocketHandler):
    """One end; what it hears goes to the other."""

    ends: dict[str, Relay] = {}

    def open(self, end: str) -> None:
        self.set_nodelay(True)
        self.ends[end] = self
        self.other = {"page": "client", "client": "page"}[end]

    def on_message(self, message: str | bytes) -> None:
        self.ends[self.other].write_message(message)


async def serve() -> None:
    server = HTTPServer(Application([("/", Document), ("/ws/(page|client)", Relay)]))
    sockets = bind_sockets(0, "127.0.0.1", socket.AF_INET)
    server.add_sockets(sockets)
    print(f"127.0.0.1:{sockets[0].getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


class Client:
    """Owns the thread. `ask` blocks until the frame has sent the message back."""

    def __init__(self, address: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._waiting: dict[int, Future[None]] = {}
        self._ids = itertools.count()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._socket = asyncio.run_coroutine_threadsafe(self._connect(address), self._loop).result(10)

    def ask(self) -> None:
        number = next(self._ids)
        future = self._waiting[number] = Future[None]()
        self._loop.call_soon_threadsafe(self._send, number)
        future.result(10)

    async def _connect(self, address: str) -> WebSocketClientConnection:
        connection = await websocket_connect(f"ws://{address}/ws/client", on_message_callback=self._received)
        assert connection.protocol is not None
        connection.protocol.set_nodelay(True)
        return connection

    def _send(self, number: int) -> None:
        self._socket.write_message(json.dumps({"id": number}))

    def _received(self, message: Any) -> None:
        if message is not None:
            self._waiting.pop(json.loads(message)["id"]).set_result(None)


def measure(address: str, times: int) -> list[float]:
    client = Client(address)
    for _ in range(WARM_UP):
        client.ask()
    durations = []
    for _ in range(times):
        began = perf_counter()
        client.ask()
        durations.append(perf_counter() - began)
    return durations


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["server"]:
            asyncio.run(serve())
        case ["client", address, times]:
            print(json.dumps(measure(address, int(times))))
