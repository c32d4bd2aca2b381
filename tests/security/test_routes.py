"""Every route of the extension, taken from the application's own table, refuses whoever is not known."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketHandler, websocket_connect
from traitlets.config import Config

from jupyter_applets.server.base import ApiHandler, HostSocket
from jupyter_applets.server.handlers import ROUTES

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x" * 24,
}
VERBS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@pytest.fixture(params=[True, False], ids=["open by default", "closed by default"])
def jp_server_config(request: pytest.FixtureRequest) -> Config:
    """jupyter_server's own default lets an undecorated handler be open; ours must not depend on it."""
    return Config(
        {
            "ServerApp": {
                "allow_unauthenticated_access": request.param,
                "jpserver_extensions": {"jupyter_applets": True},
            }
        }
    )


EXAMPLES = {r"([^/]+)": "calculator", r"(.+)": "a/b.ipynb"}
"""What stands for each group that a route has."""


def our_routes(web_app: Any) -> list[tuple[str, type]]:
    """All rules of the application whose handler is ours, each as a path that it serves."""
    found = []

    def walk(router: Any) -> None:
        for rule in getattr(router, "rules", []):
            target = rule.target
            if isinstance(target, type) and target.__module__.startswith("jupyter_applets"):
                path = re.sub(r"static/\(.*\)", "static/desk.js", rule.matcher.regex.pattern.rstrip("$"))
                for group, example in EXAMPLES.items():
                    path = path.replace(group, example)
                assert rule.matcher.regex.fullmatch(path), f"give an example for {path}"
                found.append((path, target))
            elif hasattr(target, "rules"):
                walk(target)

    walk(web_app.default_router)
    walk(web_app.wildcard_router)
    return found


async def status_of(url: str, verb: str, headers: dict[str, str]) -> int:
    body = "" if verb in ("POST", "PUT", "PATCH") else None
    request = HTTPRequest(url, verb, headers, body, follow_redirects=False, allow_nonstandard_methods=True)
    return (await AsyncHTTPClient().fetch(request, raise_error=False)).code


async def test_routes_are_found_and_stand_on_our_bases(jp_serverapp: Any) -> None:
    routes = our_routes(jp_serverapp.web_app)
    assert len(routes) == len(ROUTES)
    for path, handler in routes:
        assert issubclass(handler, ApiHandler | HostSocket), path


@pytest.mark.parametrize("token", [None, "token wrong", "Bearer wrong", "token "])
async def test_no_route_answers_without_credentials(
    jp_serverapp: Any, http_server_client: Any, jp_http_port: int, token: str | None
) -> None:
    for path, handler in our_routes(jp_serverapp.web_app):
        is_socket = issubclass(handler, WebSocketHandler)
        for verb in VERBS:
            headers = dict(UPGRADE) if is_socket else {}
            if token is not None:
                headers["Authorization"] = token
            status = await status_of(f"http://127.0.0.1:{jp_http_port}{path}", verb, headers)
            assert status in (302, 403, 405) or (verb == "OPTIONS" and status == 204), f"{verb} {path}: {status}"


async def test_users_token_opens_no_kernel_socket_and_the_kernels_secret_nothing_else(
    jp_serverapp: Any, http_server_client: Any, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> None:
    base = f"127.0.0.1:{jp_http_port}{jp_base_url}applets/"
    secret = {"Authorization": f"token {jp_serverapp.web_app.settings['jupyter_applets_secret']}"}
    with pytest.raises(HTTPClientError, match="403"):
        await websocket_connect(HTTPRequest(f"ws://{base}ws/kernel", headers=jp_auth_header))
    with pytest.raises(HTTPClientError, match="403"):
        await websocket_connect(HTTPRequest(f"ws://{base}ws/applet?session=x", headers=secret))
    assert await status_of(f"http://{base}api/health", "GET", secret) in (302, 403)
    contents = f"http://127.0.0.1:{jp_http_port}{jp_base_url}api/contents"
    assert await status_of(contents, "GET", secret) == 403


@pytest.mark.parametrize(
    "origin",
    ["null", "https://evil.example", "http://127.0.0.1.evil.example", "http://evil127.0.0.1", "http://127.0.0.1:1"],
)
async def test_kernel_socket_refuses_other_origins(
    jp_serverapp: Any, http_server_client: Any, jp_http_port: int, jp_base_url: str, origin: str
) -> None:
    headers = {"Authorization": f"token {jp_serverapp.web_app.settings['jupyter_applets_secret']}", "Origin": origin}
    url = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}applets/ws/kernel"
    with pytest.raises(HTTPClientError, match="403"):
        await websocket_connect(HTTPRequest(url, headers=headers))


async def test_secret_is_in_no_page_and_no_log(
    jp_serverapp: Any, jp_fetch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    secret = jp_serverapp.web_app.settings["jupyter_applets_secret"]
    response = await jp_fetch("applets", "api", "health")
    assert secret not in response.body.decode()
    assert secret not in caplog.text
