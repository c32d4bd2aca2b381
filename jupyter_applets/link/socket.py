"""SocketLink: the kernel's WebSocket to the host in the Jupyter server. A thread of its own sends and reads.

It connects again by itself. Calls that were sent when the connection was cut get LinkLost; those not yet sent wait.
A thread with a plain socket takes 0.2 ms to the server and back, where tornado's client, on a loop, takes 0.4 ms.
"""

from __future__ import annotations

import contextlib
import random
import selectors
import socket
import ssl
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from ..errors import Forbidden, LinkLost
from ..protocol.base import PROTOCOL
from ..protocol.frames import Codec, encode, unpack
from ..protocol.link import Hello, ToKernel
from .base import Link, log

if TYPE_CHECKING:
    from websocket import WebSocket

FIRST_RETRY = 0.1
LAST_RETRY = 10.0
CONNECT_TIMEOUT = 10.0
PING_EVERY = 20.0

_codec: Codec[ToKernel] = Codec(ToKernel)


class SocketLink(Link):
    """Connects as soon as it is made; `call` never waits for that."""

    def __init__(
        self, url: str, secret: str, *, session: str, kernel: str, version: str, certificate: str | None = None
    ) -> None:
        super().__init__(session, kernel)
        self._url = urlsplit(url)
        self._secret = secret
        self._version = version
        self._certificate = certificate
        self._connection: WebSocket | None = None
        self._reaching: socket.socket | None = None
        self._waker, self._woken = socket.socketpair()
        self._waker.setblocking(False)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._stay_connected, name="jupyter_applets-link", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        super().close()
        self._wake()
        if (sock := self._reaching) is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=5)

    def _wake(self) -> None:
        # A full pipe has woken the thread already; a closed one has no thread to wake.
        with contextlib.suppress(OSError):
            self._waker.send(b"!")

    # ---- on the thread

    def _stay_connected(self) -> None:
        from websocket import WebSocketBadStatusException, WebSocketException

        retry = FIRST_RETRY
        while not self._closed.is_set() and self.refused is None:
            try:
                connection = self._connect()
            except WebSocketBadStatusException as e:
                log.debug("the Jupyter server refused the connection: %s", e)
                self._on_refusal(e.status_code)
            except (OSError, WebSocketException) as e:
                log.debug("no connection to the Jupyter server yet: %r", e)
            else:
                retry = FIRST_RETRY
                try:
                    self._converse(connection)
                except (OSError, WebSocketException) as e:
                    log.debug("the connection to the Jupyter server has ended: %r", e)
                except Exception:
                    log.exception("the link to the Jupyter server failed, and connects again")
                finally:
                    self._hang_up(connection)
            # Full jitter: a hundred kernels of one server must not come back in step.
            self._closed.wait(random.uniform(0, retry))  # noqa: S311
            retry = min(retry * 2, LAST_RETRY)
        self._waker.close()
        self._woken.close()

    def _on_refusal(self, status: int) -> None:
        if status == 403:
            self.refused = Forbidden(
                "The Jupyter server refused this kernel's secret: the server was started again since. "
                "Restart the kernel."
            )
            self._fail_all(self.refused)

    def _connect(self) -> WebSocket:
        from websocket import create_connection

        url = self._url
        host = "localhost" if url.scheme == "http+unix" else url.netloc
        scheme = "wss" if url.scheme == "https" else "ws"
        sock = self._reaching = self._reach()
        try:
            sock.settimeout(CONNECT_TIMEOUT)
            if url.scheme == "https":
                sock = self._trust().wrap_socket(sock, server_hostname=url.hostname)
            return create_connection(
                f"{scheme}://{host}{url.path}applets/ws/kernel?session={quote(self.session, safe='')}",
                timeout=CONNECT_TIMEOUT,
                header=[f"Authorization: token {self._secret}"],
                suppress_origin=True,
                redirect_limit=0,
                socket=sock,
                enable_multithread=False,
                # The decoder checks it anyway, and faster.
                skip_utf8_validation=True,
            )
        except BaseException:
            sock.close()
            raise
        finally:
            self._reaching = None

    def _reach(self) -> socket.socket:
        url = self._url
        if url.scheme == "http+unix":
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(unquote(url.netloc))
            return sock
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        sock = socket.create_connection((url.hostname or "", port), CONNECT_TIMEOUT)
        # Nagle's algorithm would hold back a frame for up to 44 ms.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def _trust(self) -> ssl.SSLContext:
        """A server with a certificate of its own is known by that very certificate."""
        context = ssl.create_default_context(cafile=self._certificate)
        if self._certificate is not None:
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.check_hostname = False
        return context

    def _converse(self, connection: WebSocket) -> None:
        """Send what is queued and take what comes, until the connection ends or the link is closed."""
        from websocket import ABNF

        connection.send(encode([Hello(PROTOCOL, self._version, "kernel", self.session, self.kernel)]))
        self._connection = connection
        asked = False
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self._closed.is_set():
                for frame in self._take_queue():
                    connection.send(frame)
                ready = _wait(selector, connection)
                if self._woken in ready:
                    self._woken.recv(4096)
                if connection in ready:
                    asked = False
                    opcode, data = connection.recv_data(control_frame=True)
                    if opcode == ABNF.OPCODE_CLOSE:
                        return
                    if opcode == ABNF.OPCODE_BINARY:
                        data, _buffers = unpack(data)
                    if opcode in (ABNF.OPCODE_TEXT, ABNF.OPCODE_BINARY):
                        self._deliver(_codec.decode(data))
                elif not ready:
                    if asked:
                        raise TimeoutError("the server has gone silent")
                    asked = True
                    connection.ping()

    def _hang_up(self, connection: WebSocket) -> None:
        self._connection = None
        with contextlib.suppress(OSError):
            connection.close(timeout=0)
        self._fail_all(
            LinkLost(
                "The connection between the kernel and the Jupyter server was cut while the call was under way: "
                "it may or may not have taken effect."
            ),
            only_sent=True,
        )


def _wait(selector: selectors.BaseSelector, connection: WebSocket) -> list[object]:
    """Who has something to say; nobody, when it was quiet for long."""
    # What TLS has read ahead makes no socket ready.
    if isinstance(connection.sock, ssl.SSLSocket) and connection.sock.pending():
        return [connection]
    return [key.fileobj for key, _ in selector.select(PING_EVERY)]
