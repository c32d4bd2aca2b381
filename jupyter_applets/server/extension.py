"""JupyterApplets: the server extension. Makes the host, mounts the routes, and tells kernels how to reach it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from traitlets import Bool, Enum, Int, List, Unicode

from .. import __version__
from ..host import Driver
from ..host.decisions import RunPolicy
from ..protocol import environment
from ..protocol.base import MAX_MESSAGE_BYTES
from ..tools import make_host
from ..tools.services import Services, watcher
from ..workspace.paths import SENSITIVE
from .handlers import ROUTES


class JupyterApplets(ExtensionApp):
    name = "jupyter_applets"
    extension_url = "/applets"
    load_other_extensions = True

    max_message_bytes = Int(
        MAX_MESSAGE_BYTES, config=True, help="The largest message in bytes, such as the result of one query."
    )
    applets_folder = Unicode(
        "applets", config=True, help="The folder of saved applets, below the server's root. Each is a folder in it."
    )
    run = Enum(
        ["auto", "ask", "always"],
        "auto",
        config=True,
        help="When an applet's code waits for a person to press Run: `auto`, when no kernel of the user's vouches for "
        "it; `ask`, whenever it was not allowed before; `always` runs everything.",
    )
    sensitive_names = List(
        Unicode(),
        list(SENSITIVE),
        config=True,
        help="Shell patterns of names that no applet reaches, wherever they stand in a path.",
    )
    max_file_bytes = Int(512 * 1024 * 1024, config=True, help="The largest file that applets read or write.")
    nodelay_kernel_sockets = Bool(
        False,
        config=True,
        help="Turn Nagle's algorithm off on Jupyter's own kernel sockets too. "
        "It costs every widget a stall of up to 44 ms per comm round trip.",
    )

    def initialize_settings(self) -> None:
        self._driver: Driver | None = None
        serverapp: Any = self.serverapp
        self.settings["jupyter_applets_secret"] = secrets.token_urlsafe(32)
        self.settings["jupyter_applets_max_message_bytes"] = self.max_message_bytes
        host = make_host(__version__, max_message_bytes=self.max_message_bytes, run=cast(RunPolicy, self.run))
        services = Services(
            serverapp.root_dir,
            applets=self.applets_folder,
            sensitive=self.sensitive_names,
            max_file_bytes=self.max_file_bytes,
        )
        host.decisions.all = services.decisions.load()
        self._driver = Driver(host, serverapp.io_loop.asyncio_loop, services, watcher(services))
        self.settings["jupyter_applets_driver"] = self._driver
        if self.nodelay_kernel_sockets:
            from .nodelay import without_delay

            key = "kernel_websocket_connection_class"
            self.settings[key] = without_delay(serverapp.web_app.settings[key])

    def initialize_handlers(self) -> None:
        self.handlers.extend((f"/applets/{path}", handler) for path, handler in ROUTES)

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        """Only now is the port certain: told earlier, a kernel might offer the secret to a stranger."""
        os.environ.update(_environment(serverapp, self.settings["jupyter_applets_secret"]))

    async def stop_extension(self) -> None:
        for name in (environment.URL, environment.SECRET, environment.CERTIFICATE, environment.ROOT):
            os.environ.pop(name, None)
        if self._driver is not None:
            await self._driver.close()
            self._driver.services.close()


def _environment(serverapp: Any, secret: str) -> dict[str, str]:
    """What a kernel needs to know. Kernels inherit the server's environment."""
    if serverapp.sock:
        origin = f"http+unix://{quote(serverapp.sock, safe='')}"
    else:
        # A server that listens everywhere is reached by its kernels over loopback.
        everywhere = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
        ip = everywhere.get(serverapp.ip, serverapp.ip)
        host = f"[{ip}]" if ":" in ip else ip
        origin = f"http{'s' if serverapp.certfile else ''}://{host}:{serverapp.port}"
    return {
        environment.URL: origin + serverapp.base_url,
        environment.SECRET: secret,
        environment.CERTIFICATE: str(Path(serverapp.certfile).resolve()) if serverapp.certfile else "",
        environment.ROOT: str(Path(serverapp.root_dir).resolve()),
    }
