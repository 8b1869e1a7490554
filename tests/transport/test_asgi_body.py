"""Bodies that do not arrive, or arrive too slowly."""

import asyncio
from typing import Any

from assay import Limits, Server
from tests.driving.hosts import on_assay

HEADERS = [
    (b"host", b"localhost"),
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
]


async def post(app: Any, receive: Any) -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []

    async def transmit(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": HEADERS}
    async with asyncio.timeout(5):
        await app(scope, receive, transmit)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


async def never() -> dict[str, Any]:
    await asyncio.Event().wait()
    raise AssertionError("not reached")


async def test_body_that_never_arrives_times_out() -> None:
    app = Server("slow", limits=Limits(body_timeout=0.01)).asgi()
    status, body = await post(app, never)
    assert status == 408
    assert b"body did not arrive within 0.01 s" in body


async def test_incomplete_body_times_out() -> None:
    parts = [{"type": "http.request", "body": b'{"jsonrpc"', "more_body": True}]

    async def receive() -> dict[str, Any]:
        return parts.pop() if parts else await never()

    app = Server("slow", limits=Limits(body_timeout=0.01)).asgi()
    assert (await post(app, receive))[0] == 408


async def test_body_from_an_awaitable_that_is_not_a_coroutine_is_read() -> None:
    """ASGI requires an awaitable; servers written in C return their own type."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'

    def receive() -> asyncio.Future[dict[str, Any]]:
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, {"type": "http.request", "body": body})
        return future

    assert await post(Server("slow").asgi(), receive) == (200, b'{"jsonrpc":"2.0","id":1,"result":{}}')


async def test_body_changed_by_a_middleware_is_read() -> None:
    """Our own server also offers the body without `receive`; a middleware that wraps `receive` must not be
    bypassed."""
    app = Server("wrapped").asgi()

    class Wrapped:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            async def changed() -> Any:
                message = await receive()
                return {**message, "body": message["body"].replace(b'"nope"', b'"ping"')}

            await app(scope, changed, send)

        async def close(self) -> None:
            await app.close()

    body = b'{"jsonrpc":"2.0","id":1,"method":"nope"}'
    async with on_assay(Wrapped()) as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = [b"%b: %b" % pair for pair in [*HEADERS, (b"content-length", b"%d" % len(body))]]
        writer.write(b"\r\n".join([b"POST /mcp HTTP/1.1", *lines, b"connection: close", b"", body]))
        assert (await reader.read()).endswith(b'\r\n\r\n{"jsonrpc":"2.0","id":1,"result":{}}')
        writer.close()
        await writer.wait_closed()
