"""An ASGI application on the stage."""

from typing import Any

import pytest

from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.side_server import serve_asgi
from tests.lab.harness.scripted_server.raw_client import open_stage


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"].decode()
    text = f"{scope['method']} {scope['path']} {scope['query_string'].decode()} {body}"
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"999")]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b"!"})


async def test_application_answers() -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await serve_asgi(echo, request, reply)

    async with open_stage() as running:
        origin = await running.stage.add_server("shop", serve)
        answer = await (await running.connect(origin)).ask("POST", "/a%20b?c=d", b"body")
    assert (answer.head.status, answer.body) == (201, b"POST /a b c=d body!")
    assert answer.head.get("content-type") == "text/plain"


@pytest.mark.parametrize("name", ["[::1]:80", "localhost:abc", "", ":"])
async def test_any_host_header_is_answered(name: str) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await serve_asgi(echo, request, reply)

    async with open_stage() as running:
        client = await running.connect(await running.stage.add_server("shop", serve))
        client.writer.write(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        assert (await client.answer()).head.status == 201
    assert running.stage.fault is None
