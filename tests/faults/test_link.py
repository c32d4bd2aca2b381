"""The kernel's link through a bad network: it comes back by itself, and every call gets exactly one reply."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_unix_socket

from jupyter_applets.errors import LinkLost
from jupyter_applets.server.extension import _environment

from ..running_server import OpenPage, reply
from ..server.test_sockets import VIEW
from .proxy import Proxy

QUERY = ("app_query", {"windowId": "sheet", "stateKey": "cells"})


async def test_cut_connection_ends_the_calls_under_way_and_comes_back(
    make_link: Any, open_page: OpenPage, jp_http_port: int, jp_base_url: str
) -> None:
    proxy = Proxy(("127.0.0.1", jp_http_port))
    link = make_link(f"http://127.0.0.1:{await proxy.start()}{jp_base_url}")
    welcomes = []
    link.on_welcome = lambda: welcomes.append(1)
    page = await open_page()
    await page.hello(VIEW)
    pending = link.call(*QUERY)
    await page.next()
    proxy.cut()
    with pytest.raises(LinkLost, match="between the kernel and the Jupyter server was cut"):
        await reply(pending)
    assert await reply(link.call("list_windows", {})) != []
    assert len(welcomes) == 2
    await proxy.stop()


async def test_every_call_gets_one_reply_through_twenty_cuts(
    make_link: Any, jp_http_port: int, jp_base_url: str
) -> None:
    proxy = Proxy(("127.0.0.1", jp_http_port))
    link = make_link(f"http://127.0.0.1:{await proxy.start()}{jp_base_url}")
    calls = []
    for _ in range(20):
        calls += [link.call("list_windows", {}) for _ in range(50)]
        await asyncio.wait([asyncio.wrap_future(calls[-1])], timeout=0.02)
        proxy.cut()
    done = await asyncio.gather(*(reply(call) for call in calls), return_exceptions=True)
    assert all(result == [] or isinstance(result, LinkLost) for result in done)
    assert await reply(link.call("list_windows", {})) == []
    assert not link._pending
    await proxy.stop()


async def test_call_made_while_the_connection_is_down_waits_for_it(make_link: Any, base: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        proxy_port = probe.getsockname()[1]
    target_port = int(base.split(":")[2].split("/", maxsplit=1)[0])
    link = make_link(base.replace(str(target_port), str(proxy_port)))
    pending = link.call("list_windows", {})
    done, _ = await asyncio.wait([asyncio.wrap_future(pending)], timeout=0.3)
    assert not done
    proxy = Proxy(("127.0.0.1", target_port))
    proxy._server = await asyncio.start_server(proxy._serve, "127.0.0.1", proxy_port)
    assert await reply(pending) == []
    await proxy.stop()


async def test_one_byte_at_a_time_is_slow_but_right(
    make_link: Any, open_page: OpenPage, jp_http_port: int, jp_base_url: str
) -> None:
    proxy = Proxy(("127.0.0.1", jp_http_port))
    proxy.piece = 1
    link = make_link(f"http://127.0.0.1:{await proxy.start()}{jp_base_url}")
    page = await open_page()
    await page.hello(VIEW)
    pending = link.call(*QUERY)
    await page.answer({"A1": "ü" * 50})
    assert await reply(pending) == {"A1": "ü" * 50}
    await proxy.stop()


async def test_cancelled_call_leaves_nothing_behind(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    link = make_link()
    pending = link.call(*QUERY)
    await page.next()
    link.cancel(pending)
    assert pending.cancelled()
    assert await reply(link.call("list_windows", {})) != []
    assert not link._pending


async def test_unix_socket_works(make_link: Any, jp_serverapp: Any, tmp_path: Path, jp_base_url: str) -> None:
    path = tmp_path / "jupyter.sock"
    server = HTTPServer(jp_serverapp.web_app)
    server.add_socket(bind_unix_socket(str(path)))
    jp_serverapp.sock = str(path)
    environment = _environment(jp_serverapp, "s")
    link = make_link(environment["JUPYTER_APPLETS_URL"])
    assert await reply(link.call("list_windows", {})) == []
    server.stop()


async def test_self_signed_certificate_is_trusted_and_no_other(
    make_link: Any, jp_serverapp: Any, tmp_path: Path
) -> None:
    good, other = certificate(tmp_path / "good"), certificate(tmp_path / "other")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(good, good.with_suffix(".key"))
    server = HTTPServer(jp_serverapp.web_app, ssl_options=context)
    server.listen(0, "127.0.0.1")
    port = next(iter(server._sockets.values())).getsockname()[1]
    url = f"https://127.0.0.1:{port}{jp_serverapp.base_url}"
    assert await reply(make_link(url, certificate=str(good)).call("list_windows", {})) == []
    refused = make_link(url, certificate=str(other)).call("list_windows", {})
    done, _ = await asyncio.wait([asyncio.wrap_future(refused)], timeout=1)
    assert not done
    server.stop()


def certificate(path: Path) -> Path:
    """A certificate of one's own, as people make them for a server at home."""
    cert = path.with_suffix(".pem")
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {path}.key -out {cert}".split(),
        check=True,
        capture_output=True,
    )
    return cert


async def test_environment_is_set_once_the_server_listens(jp_serverapp: Any) -> None:
    extension = jp_serverapp.extension_manager.extension_points["jupyter_applets"].app
    assert "JUPYTER_APPLETS_TOKEN" not in os.environ
    await extension._start_jupyter_server_extension(jp_serverapp)
    assert os.environ["JUPYTER_APPLETS_URL"].endswith(f":{jp_serverapp.port}{jp_serverapp.base_url}")
    assert os.environ["JUPYTER_APPLETS_TOKEN"] == extension.settings["jupyter_applets_secret"]
    assert os.environ["JUPYTER_APPLETS_TOKEN"] != jp_serverapp.identity_provider.token
    await extension.stop_extension()
    assert "JUPYTER_APPLETS_TOKEN" not in os.environ


async def test_call_on_a_closed_link_is_told_at_once(make_link: Any) -> None:
    link = make_link()
    await reply(link.call("list_windows", {}))
    link.close()
    with pytest.raises(LinkLost, match="closed"):
        await reply(link.call("list_windows", {}))


async def test_link_works_beside_more_files_than_select_can_count(make_link: Any) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with contextlib.ExitStack() as held:
        for _ in range(1_100):
            held.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        assert await reply(make_link().call("list_windows", {})) == []
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
