"""A server on loopback that writes down what arrives, so that a test can say that nothing did."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")

_BODIES = {
    "script": ("text/javascript", b"window.scriptRan = true;"),
    "module": ("text/javascript", b"export const ran = true;"),
    "style": ("text/css", b"#styled { color: rgb(1, 2, 3) }"),
    "img": ("image/gif", PIXEL),
    "events": ("text/event-stream", b"retry: 100000\ndata: event\n\n"),
}


class Loopback(ThreadingHTTPServer):
    """Takes every request. `hits` are the paths in order, `connections` how many sockets were opened at all."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hits: list[str] = []
        self.connections = 0
        self._changed = threading.Condition()
        self.origin = f"http://127.0.0.1:{self.server_port}"

    def note(self, path: str) -> None:
        with self._changed:
            self.hits.append(path)
            self._changed.notify_all()

    def wait_for(self, path: str, timeout: float = 10.0) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: path in self.hits, timeout), f"{path} did not arrive: {self.hits}"

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is no error of the test's."""


class _Handler(BaseHTTPRequestHandler):
    server: Loopback
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.note(self.path.split("?")[0])
        if self.headers.get("Upgrade", "").lower() == "websocket":
            return self._shake_hands()
        kind, body = _BODIES.get(self.path.strip("/").split("-")[0], ("text/plain", b"arrived"))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
        return None

    do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 (the names that http.server looks for)

    def _shake_hands(self) -> None:
        key = self.headers["Sec-WebSocket-Key"] + WEBSOCKET_GUID
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        self.wfile.write(b"\x81\x07arrived")
        self.close_connection = True

    def log_message(self, *args: Any) -> None:
        """Silent: what arrived is in `hits`."""


@contextmanager
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
