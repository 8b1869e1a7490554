"""The same conversation with the example of every host, through the test client of its framework."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.examples import process

NEWEST = PER_REQUEST[-1]
HEADERS = {"Host": "localhost", "Content-Type": "application/json", **process.HEADERS}
BASE = "http://127.0.0.1"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The message of a JSON body, or those of an event stream."""
        if not self.headers["content-type"].startswith("text/event-stream"):
            return [json.loads(self.body)]
        lines = self.body.decode().splitlines()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


@pytest.fixture(scope="module", autouse=True)
def project() -> Iterator[None]:
    """The settings of a Django project; and what the loop of a host still holds is closed in the end."""
    from django.conf import settings

    settings.configure(
        ROOT_URLCONF="examples.django_app", ALLOWED_HOSTS=["localhost", "testserver"], SECRET_KEY="tests"
    )
    yield
    from examples.aws_lambda import runner
    from examples.aws_lambda import server as function

    runner.run(function.stop())
    runner.close()


Send = Callable[[str, bytes, dict[str, str]], Awaitable[Answer]]
"""Sends a request: method, body, headers."""


def lowered(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


@asynccontextmanager
async def flask() -> AsyncIterator[Send]:
    from examples.flask_app import app

    async def send(method: str, body: bytes, headers: dict[str, str]) -> Answer:
        response = app.test_client().open("/mcp", method=method, data=body, headers=headers)
        return Answer(response.status_code, lowered(response.headers), response.data)

    yield send


@asynccontextmanager
async def django_view() -> AsyncIterator[Send]:
    from django.test import AsyncClient

    from examples.django_app import server

    client = AsyncClient()  # it sends the Host `testserver`

    async def send(method: str, body: bytes, headers: dict[str, str]) -> Answer:
        others = {name: value for name, value in headers.items() if name not in ("Host", "Content-Type")}
        response = await client.generic(
            method, "/account/mcp", body, headers["Content-Type"], headers={"X-User": "ada", **others}
        )
        streams = response.streaming
        content = b"".join([part async for part in response]) if streams else response.content
        return Answer(response.status_code, lowered(response.headers), content)

    yield send
    await server.stop()


@asynccontextmanager
async def django_mount() -> AsyncIterator[Send]:
    from examples.django_app import application

    async with through_starlette(application) as send:
        yield send


@asynccontextmanager
async def aws_lambda() -> AsyncIterator[Send]:
    from examples.aws_lambda import handler

    async def send(method: str, body: bytes, headers: dict[str, str]) -> Answer:
        event = {
            "version": "2.0",
            "rawPath": "/mcp",
            "rawQueryString": "",
            # API Gateway writes names in lower case.
            "headers": {name.lower(): value for name, value in headers.items()},
            "requestContext": {"http": {"method": method, "path": "/mcp", "sourceIp": "192.0.2.7"}},
            "body": b64encode(body).decode(),
            "isBase64Encoded": True,
        }
        answer = await asyncio.to_thread(handler, event, None)
        json.dumps(answer)
        return Answer(answer["statusCode"], answer["headers"], answer["body"].encode())

    yield send


@asynccontextmanager
async def through_starlette(app: Any) -> AsyncIterator[Send]:
    from starlette.testclient import TestClient

    with TestClient(app, base_url=BASE) as client:
        yield blocking(client)


def blocking(client: Any) -> Send:
    async def send(method: str, body: bytes, headers: dict[str, str]) -> Answer:
        response = await asyncio.to_thread(client.request, method, "/mcp", content=body, headers=headers)
        return Answer(response.status_code, lowered(response.headers), response.content)

    return send


@asynccontextmanager
async def starlette() -> AsyncIterator[Send]:
    from examples.starlette_app import app

    async with through_starlette(app) as send:
        yield send


@asynccontextmanager
async def fastapi() -> AsyncIterator[Send]:
    from examples.fastapi_app import app

    async with through_starlette(app) as send:

        async def as_ada(method: str, body: bytes, headers: dict[str, str]) -> Answer:
            return await send(method, body, {"Authorization": "Bearer token-of-ada", **headers})

        yield as_ada


@asynccontextmanager
async def litestar() -> AsyncIterator[Send]:
    from litestar.testing import TestClient

    from examples.litestar_app import app

    with TestClient(app, base_url=BASE) as client:
        yield blocking(client)


HOSTS = {
    host.__name__: host
    for host in (flask, django_view, django_mount, aws_lambda, starlette, fastapi, litestar)
}
every_host = pytest.mark.parametrize("host", HOSTS)
PLAIN = "aws_lambda"
"""The host without streams and sessions."""


async def post(send: Send, message: Any, **headers: str) -> Answer:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return await send(
        "POST", body, {**HEADERS, **{name.replace("_", "-"): headers[name] for name in headers}}
    )


def counting() -> tuple[dict[str, Any], dict[str, str]]:
    """A call that reports progress, as clients without a handshake send it, and its headers."""
    message = process.tool_call("count", to=3)
    message["params"]["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": NEWEST.date,
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    }
    return message, {"MCP_Protocol_Version": NEWEST.date, "Mcp_Method": "tools/call", "Mcp_Name": "count"}


@every_host
async def test_progress_is_streamed_before_the_answer(host: str) -> None:
    message, headers = counting()
    async with HOSTS[host]() as send:
        *progress, answer = (await post(send, message, **headers)).messages
    assert "counted to 3" in answer["result"]["content"][0]["text"]
    assert len(progress) == (0 if host == PLAIN else 3)


@every_host
async def test_a_session_lasts_over_requests(host: str) -> None:
    async with HOSTS[host]() as send:
        opened = await post(send, process.initialize(HANDSHAKE[-1].date))
        assert opened.messages[0]["result"]["protocolVersion"] == HANDSHAKE[-1].date
        session = opened.headers.get("mcp-session-id")
        assert (session is None) == (host == PLAIN)
        headers = {} if session is None else {"Mcp_Session_Id": session}
        accepted = await post(send, process.INITIALIZED, **headers)
        assert (accepted.status, accepted.body) == (202, b"")
        listed = await post(send, process.request("tools/list"), **headers)
        assert "count" in [tool["name"] for tool in listed.messages[0]["result"]["tools"]]
        if session is not None:
            assert (await send("DELETE", b"", {**HEADERS, "Mcp-Session-Id": session})).status == 204
            assert (await post(send, process.request("ping"), **headers)).status == 404


@every_host
async def test_bad_json_gets_400(host: str) -> None:
    async with HOSTS[host]() as send:
        answer = await post(send, b"{")
    assert (answer.status, answer.messages[0]["error"]["code"]) == (400, -32700)


@every_host
async def test_a_foreign_origin_gets_403(host: str) -> None:
    async with HOSTS[host]() as send:
        answer = await post(send, process.request("ping"), Origin="https://evil.example")
    assert answer.status == 403


async def test_handlers_behind_django_see_its_user() -> None:
    message, headers = counting()
    async with django_view() as send:
        answer = (await post(send, message, **headers)).messages[-1]
    assert answer["result"]["content"][0]["text"] == "counted to 3 for ada"


async def test_a_function_gets_the_caller_that_the_gateway_has_authenticated() -> None:
    from examples.aws_lambda import handler

    event = {
        "rawPath": "/mcp",
        "headers": HEADERS,
        "requestContext": {
            "http": {"method": "POST", "sourceIp": "192.0.2.7"},
            "authorizer": {"jwt": {"claims": {"sub": "ada"}}},
        },
        "body": json.dumps(process.tool_call("count", to=1)),
    }
    answer = await asyncio.to_thread(handler, event, None)
    assert "counted to 1 for ada" in answer["body"]


async def test_a_client_that_leaves_a_flask_stream_ends_it() -> None:
    from examples.flask_app import app

    message, headers = counting()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    response = app.test_client().open("/mcp", method="POST", json=message, headers={**HEADERS, **names})
    parts = response.iter_encoded()
    assert b"notifications/progress" in next(iter(parts))
    response.close()
    assert [*parts] == []


async def test_other_routes_of_the_host_stay() -> None:
    from litestar.testing import TestClient as LitestarClient
    from starlette.testclient import TestClient

    from examples import litestar_app, starlette_app

    for client in (TestClient(starlette_app.app), LitestarClient(litestar_app.app)):
        with client:
            assert client.get("/health").json() == {"status": "ok"}
