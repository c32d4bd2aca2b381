"""The sockets: a kernel's call goes through the server to a page and back, whoever the page is."""

from __future__ import annotations

import asyncio
import json
import socket as sockets
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect
from traitlets.config import Config

from jupyter_applets.errors import (
    CallTimeout,
    Forbidden,
    InvalidMessage,
    ResultNotJson,
    TooLarge,
    UnknownStateKey,
    ViewGone,
    WindowNotFound,
)
from jupyter_applets.link.socket import SocketLink
from jupyter_applets.protocol.frames import pack
from jupyter_applets.protocol.link import Interaction

from ..running_server import OpenPage, reply

VIEW = {"viewId": "v1", "windowId": "sheet", "document": 1, "ready": True, "manifest": {"state": {"cells": {}}}}


async def test_kernel_asks_a_page_and_is_answered(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    assert (await page.hello(VIEW))["type"] == "welcome"
    pending = make_link().call("app_query", {"windowId": "sheet", "stateKey": "cells"})
    request = await page.answer({"A1": "100"})
    assert request["viewId"] == "v1"
    assert await reply(pending) == {"A1": "100"}


async def test_page_that_speaks_only_the_seed_is_served(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.send({"type": "APP_PROTOCOL_READY", "windowId": "sheet"})
    link = make_link()
    pending = link.call("app_command", {"windowId": "sheet", "command": "setCells", "params": {"cells": {"A1": "1"}}})
    frame = json.loads(await asyncio.wait_for(page.socket.read_message(), 10))
    assert isinstance(frame, dict), "a peer that never said hello gets one message a frame"
    assert frame["type"] == "APP_PROTOCOL_REQUEST"
    assert frame["request"] == {"kind": "command", "command": "setCells", "params": {"cells": {"A1": "1"}}}
    answer = {"kind": "command", "result": {"ok": True}}
    done = {"type": "APP_PROTOCOL_RESPONSE", "requestId": frame["requestId"], "windowId": "sheet", "response": answer}
    await page.send(done)
    assert await reply(pending) == {"ok": True}
    # A second ready is a reload: what was recorded is replayed.
    await page.send({"type": "APP_PROTOCOL_READY", "windowId": "sheet"})
    replayed = await page.next()
    assert replayed["request"]["replayed"] is True
    assert replayed["requestId"].startswith("replay-")


async def test_many_calls_travel_in_few_frames(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    link = make_link()
    pending = [link.call("app_query", {"windowId": "sheet", "stateKey": "cells"}) for _ in range(500)]
    answers, frames = [], 0
    while len(answers) < 500:
        batch = json.loads(await asyncio.wait_for(page.socket.read_message(), 10))
        frames += 1
        answers += [
            {
                "type": "APP_PROTOCOL_RESPONSE",
                "requestId": request["requestId"],
                "windowId": "sheet",
                "response": {"kind": "query", "data": request["seq"]},
            }
            for request in batch
        ]
    await page.send(json.dumps(answers))
    assert [await reply(call) for call in pending] == list(range(1, 501))
    assert frames < 100


@pytest.mark.parametrize(
    "junk", ["nonsense", "[1, 2]", '{"type": "nope"}', "[" * 5_000, '{"type":"hello"}', b"\x00\x01"]
)
async def test_junk_on_a_page_socket_is_answered_and_the_connection_goes_on(
    make_link: Any, open_page: OpenPage, junk: str | bytes
) -> None:
    page = await open_page()
    await page.hello(VIEW)
    await page.socket.write_message(junk, binary=isinstance(junk, bytes))
    assert (await page.next())["code"] == "INVALID_MESSAGE"
    pending = make_link().call("app_query", {"windowId": "sheet", "stateKey": "cells"})
    while (await page.next())["type"] == "error":
        pass
    assert not pending.done()


async def test_junk_on_a_kernel_socket_is_answered_under_its_id(base: str, secret: str) -> None:
    from tornado.httpclient import HTTPRequest

    url = f"{base}applets/ws/kernel".replace("http", "ws", 1)
    socket = await websocket_connect(HTTPRequest(url, headers={"Authorization": f"token {secret}"}))
    await socket.write_message('{"type":"call","id":"c1"}')
    [error] = [json.loads(await asyncio.wait_for(socket.read_message(), 10))]
    assert (error["type"], error["id"], error["code"]) == ("error", "c1", "INVALID_MESSAGE")
    await socket.write_message('{"type":"call","id":"c2","name":"list_windows"}')
    assert json.loads(await asyncio.wait_for(socket.read_message(), 10)) == {"type": "result", "id": "c2", "value": []}
    socket.close()


async def test_binary_frame_is_read(open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello()
    await page.socket.write_message(pack([{"type": "nope"}], [b"12345"]), binary=True)
    assert "nope" in (await page.next())["message"]


async def test_interaction_reaches_the_kernels_of_its_session_only(make_link: Any, open_page: OpenPage) -> None:
    mine, others = make_link(), make_link(session="other")
    heard: list[Any] = []
    mine.on_notice = heard.append
    others.on_notice = lambda notice: heard.append("leaked")
    await reply(mine.call("list_windows", {}))
    await reply(others.call("list_windows", {}))
    page = await open_page()
    await page.hello(VIEW)
    await page.send({"type": "interaction", "windowId": "sheet", "content": "User clicked save"})
    while not any(isinstance(notice, Interaction) for notice in heard):
        await reply(mine.call("list_windows", {}))
    await reply(others.call("list_windows", {}))
    assert Interaction("sheet", "User clicked save") in heard
    assert "leaked" not in heard


async def test_page_that_closes_ends_the_calls_it_had(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    pending = make_link().call("app_query", {"windowId": "sheet", "stateKey": "cells"})
    await page.next()
    page.socket.close()
    with pytest.raises(ViewGone, match="page's connection was cut"):
        await reply(pending)


async def test_deadline_is_kept_by_the_server(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    pending = make_link().call("app_query", {"windowId": "sheet", "stateKey": "cells"}, 0.2)
    assert (await page.next())["timeoutMs"] == 200
    with pytest.raises(CallTimeout):
        await reply(pending)


async def test_error_keeps_its_class_and_names_over_the_wire(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    with pytest.raises(UnknownStateKey) as caught:
        await reply(make_link().call("app_query", {"windowId": "sheet", "stateKey": "rows"}))
    assert caught.value.names == ["manifest", "cells"]


async def test_call_over_the_limit_fails_alone(make_link: Any) -> None:
    link = make_link()
    await reply(link.call("list_windows", {}))
    with pytest.raises(TooLarge, match=r"17\.0 MB as JSON; the limit is 16\.8 MB"):
        link.call("app_command", {"windowId": "sheet", "command": "x", "params": {"text": "y" * 17_000_000}})
    parts = [link.call("app_query", {"windowId": "y" * 9_000_000, "stateKey": "x"}) for _ in range(2)]
    assert await reply(link.call("list_windows", {})) == []
    for part in parts:
        with pytest.raises(WindowNotFound):
            await reply(part)


class TestLimit:
    @pytest.fixture
    def jp_server_config(self) -> Config:
        return Config(
            {
                "ServerApp": {"jpserver_extensions": {"jupyter_applets": True}},
                "JupyterApplets": {"max_message_bytes": 5_000},
            }
        )

    async def test_limit_is_a_setting_that_both_ends_learn(self, make_link: Any, open_page: OpenPage) -> None:
        page = await open_page()
        assert (await page.hello(VIEW))["maxMessageBytes"] == 5_000
        link = make_link()
        assert await reply(link.call("list_windows", {}))
        with pytest.raises(TooLarge, match="MB"):
            link.call("app_command", {"windowId": "sheet", "command": "x", "params": {"text": "y" * 6_000}})


async def test_result_nested_too_deeply_is_an_error_and_the_page_stays(make_link: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    link = make_link()
    outcomes = []
    for depth in (10, 900, 940, 970, 990, 200_000, 1):
        pending = link.call("app_query", {"windowId": "sheet", "stateKey": "cells"})
        while "requestId" not in (request := await page.next()):
            assert request["code"] == "INVALID_MESSAGE"
        await page.send(
            f'{{"type":"APP_PROTOCOL_RESPONSE","requestId":"{request["requestId"]}","windowId":"sheet",'
            f'"response":{{"kind":"query","data":{"[" * depth + "]" * depth}}}}}'
        )
        try:
            outcomes.append(bool(await reply(pending) is not None))
        except (ResultNotJson, InvalidMessage):
            outcomes.append(False)
    assert (outcomes[0], outcomes[-2], outcomes[-1]) == (True, False, True)


async def test_kernel_with_a_wrong_secret_is_told_why(make_link: Any) -> None:
    link = make_link(key="wrong")
    with pytest.raises(Forbidden, match="Restart the kernel"):
        await reply(link.call("list_windows", {}))


async def test_no_delay_on_either_end(make_link: Any, open_page: OpenPage, jp_serverapp: Any) -> None:
    """Nagle's algorithm costs up to 44 ms a message; tornado turns it on again after the upgrade."""
    from jupyter_applets.server.base import HostSocket

    seen = []
    opened = HostSocket.open

    def spy(handler: HostSocket, *args: Any, **kwargs: Any) -> Any:
        result = opened(handler, *args, **kwargs)
        seen.append(no_delay(handler.ws_connection.stream.socket))
        return result

    HostSocket.open = spy  # type: ignore[method-assign]
    try:
        link: SocketLink = make_link()
        await open_page()
        await reply(link.call("list_windows", {}))
    finally:
        HostSocket.open = opened  # type: ignore[method-assign]
    assert seen == [True, True]
    connection = link._connection
    assert connection is not None
    assert no_delay(connection.sock)


def no_delay(socket: sockets.socket) -> bool:
    return bool(socket.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY))


async def test_page_that_does_not_read_is_dropped_and_others_do_not_notice(
    make_link: Any, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_applets.server.base.MAX_UNSENT_BYTES", 1_000_000)
    lazy, good = await open_page(), await open_page()
    await lazy.hello({**VIEW, "viewId": "lazy", "windowId": "lazy", "manifest": {"commands": {"take": {}}}})
    await good.hello(VIEW)
    link = make_link()
    stream = lazy.socket.protocol.stream  # type: ignore[union-attr]
    stream.io_loop.remove_handler(stream.socket)
    pushed = [
        link.call("app_command", {"windowId": "lazy", "command": "take", "params": {"text": "x" * 500_000}})
        for _ in range(40)
    ]
    with pytest.raises(ViewGone):
        await reply(pushed[0])
    pending = link.call("app_query", {"windowId": "sheet", "stateKey": "cells"})
    await good.answer(1)
    assert await reply(pending) == 1


async def test_health_tells_what_there_is(jp_fetch: Any, open_page: OpenPage) -> None:
    page = await open_page()
    await page.hello(VIEW)
    response = await jp_fetch("applets", "api", "health")
    assert json.loads(response.body) == {"version": "0.1.0", "protocol": 1, "windows": 1, "sessions": 1}


async def test_other_protocol_version_names_the_side_to_upgrade(open_page: OpenPage) -> None:
    for protocol, side in ((0, "the page"), (99, "the server")):
        page = await open_page()
        hello = {"type": "hello", "protocol": protocol, "version": "9.9", "role": "page", "session": "nb", "id": "p"}
        await page.send(hello)
        error = await page.next()
        assert error["code"] == "PROTOCOL_MISMATCH"
        assert f"environment of {side}" in error["message"]


async def test_page_without_a_login_is_refused(open_page: OpenPage) -> None:
    with pytest.raises(HTTPClientError, match="403"):
        await open_page(headers={})
