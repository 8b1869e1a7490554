"""Ordinary ASGI applications behave on our server as they do on uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tests.driving.answer import PATIENCE
from tests.driving.hosts import Host, on_assay, on_uvicorn
from tests.transport.http1.memory_client import ClosableApp, ParsedResponse, chunked, get, post, read_answers

# The applications


async def describe(request: Request) -> Response:
    return JSONResponse(
        {
            "method": request.method,
            "path": request.url.path,
            "raw": request.scope["raw_path"].decode(),
            "query": [*request.query_params.multi_items()],
            "headers": [*request.headers.items()],
            "cookies": request.cookies,
            "scheme": request.url.scheme,
            "version": request.scope["http_version"],
            "body": (await request.body()).decode("latin-1"),
            "parameters": request.path_params,
        }
    )


async def headers(request: Request) -> Response:
    return JSONResponse({name: value for name, value in request.headers.items() if name != "host"})


async def form(request: Request) -> Response:
    async with request.form() as form:
        return PlainTextResponse(repr(sorted(form.items())))


async def stream_back(request: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        async for piece in request.stream():
            yield piece

    return StreamingResponse(parts(), media_type="application/octet-stream")


async def count(request: Request) -> Response:
    async def numbers() -> AsyncIterator[str]:
        for number in range(100):
            yield f"{number}\n"

    return StreamingResponse(numbers(), media_type="text/plain")


async def big(request: Request) -> Response:
    return Response(b"x" * 3_000_000)


async def cookies(request: Request) -> Response:
    response = PlainTextResponse("set")
    response.set_cookie("a", "1")
    response.set_cookie("b", "2", httponly=True)
    return response


async def empty(request: Request) -> Response:
    return Response(status_code=204)


async def unchanged(request: Request) -> Response:
    return Response(status_code=304, headers={"etag": '"1"'})


async def elsewhere(request: Request) -> Response:
    return RedirectResponse("/describe")


async def refuse(request: Request) -> Response:
    raise HTTPException(418, "short and stout")


async def fail(request: Request) -> Response:
    raise RuntimeError("ours")


async def close(request: Request) -> Response:
    return PlainTextResponse("bye", headers={"connection": "close"})


async def latin(request: Request) -> Response:
    return Response(b"\xfc", headers={"x-latin": "ü"}, media_type="text/plain; charset=latin-1")


async def ignore_the_body(request: Request) -> Response:
    return PlainTextResponse("never read", status_code=403)


async def own_file(request: Request) -> Response:
    return FileResponse(__file__)


DONE: list[str] = []


async def later(request: Request) -> Response:
    return PlainTextResponse("first", background=BackgroundTask(DONE.append, "then"))


class Stamp(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next: Any) -> Response:
        response: Response = await call_next(request)
        response.headers["x-stamp"] = request.method
        return response


def starlette() -> Starlette:
    every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    named = [
        headers, form, stream_back, count, big, cookies, empty, unchanged, elsewhere, refuse, fail, close,
        latin, ignore_the_body, own_file, later,
    ]  # fmt: skip
    routes = [
        Route("/describe", describe, methods=every),
        Route("/describe/{rest:path}", describe),
        *(Route(f"/{each.__name__}", each, methods=every) for each in named),
        Mount("/files", StaticFiles(directory=__file__.rpartition("/")[0])),
    ]
    middleware = [
        Middleware(CORSMiddleware, allow_origins=["https://app.example"], allow_methods=["*"]),
        Middleware(GZipMiddleware, minimum_size=1_000_000_000),
        Middleware(Stamp),
    ]
    return Starlette(routes=routes, middleware=middleware)


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """The first example of ASGI's documentation, which uses lists for headers."""
    await receive()
    headers = [[b"content-type", b"text/plain"], [b"Content-Length", b"5"]]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


# The servers


def on_ours(app: Any) -> AbstractAsyncContextManager[int]:
    return on_assay(ClosableApp(app))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def ports() -> AsyncIterator[tuple[int, int]]:
    """The same application on our server and on uvicorn."""
    async with on_ours(starlette()) as ours, on_uvicorn(starlette()) as theirs:
        yield ours, theirs


async def ask(port: int, data: bytes, method: str) -> ParsedResponse:
    """Send one request, and read the response."""
    async with asyncio.timeout(2 * PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        got = b""
        try:
            while not (complete := _complete(got, method)):
                piece = await reader.read(65536)
                got += piece
                if not piece:
                    return read_answers(got, [method], ended=True)[0]
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        return complete


def _complete(data: bytes, method: str) -> ParsedResponse | None:
    try:
        answers = read_answers(data, [method], ended=False)
    except AssertionError:  # incomplete
        return None
    return answers[0] if answers else None


class Case(NamedTuple):
    name: str
    data: bytes
    method: str = "GET"


FORM = b"content-type: application/x-www-form-urlencoded"
CASES = [
    Case(
        "everything about a request",
        get(b"/describe?a=1&a=2&b=%C3%BC", b"Cookie: x=1; y=2", b"X-Odd:  spaced"),
    ),
    Case("header twice", get(b"/describe", b"x-twice: 1", b"X-Twice: 2")),
    Case("path with special characters", get(b"/describe/a%20b/%2F/%C3%BC;v=1,2/~x//y?q")),
    Case("absolute target", get(b"http://localhost/describe?a=1")),
    Case("absolute target without a path", get(b"http://localhost/")),
    Case("empty query", get(b"/describe?")),
    Case("body with a length", post(b"hello", target=b"/describe"), "POST"),
    Case("body without a length", chunked(b"hel", b"lo").replace(b"POST /", b"POST /describe"), "POST"),
    Case("no body", get(b"/describe", b"content-length: 0", method=b"PUT"), "PUT"),
    Case("body that is long", post(b"x" * 500_000, target=b"/describe"), "POST"),
    Case("form", post(b"a=1&b=%C3%BC", FORM, target=b"/form"), "POST"),
    Case("body that is expected", post(b"hello", b"Expect: 100-continue", target=b"/describe"), "POST"),
    Case("stream", get(b"/count")),
    Case("answer for HTTP/1.0", get(b"/cookies", version=b"1.0")),
    Case("answer that is long", get(b"/big")),
    Case("several cookies", get(b"/cookies")),
    Case("nothing", get(b"/empty")),
    Case("not modified", get(b"/unchanged")),
    Case("elsewhere", get(b"/elsewhere")),
    Case("refusal", get(b"/refuse")),
    Case("failure", get(b"/fail")),
    Case("unknown", get(b"/unknown")),
    Case("another method", get(b"/unknown", method=b"TRACE"), "TRACE"),
    Case("method not allowed", get(b"/describe/x", method=b"DELETE"), "DELETE"),
    Case("HEAD", get(b"/describe", method=b"HEAD"), "HEAD"),
    Case("HEAD of a file", get(b"/files/client.py", method=b"HEAD"), "HEAD"),
    Case("HEAD of a stream", get(b"/count", method=b"HEAD"), "HEAD"),
    Case("closed by the application", get(b"/close")),
    Case("closed by the client", get(b"/describe", b"connection: close")),
    Case("Latin", get(b"/latin")),
    Case("body that is never read", post(b"hello", target=b"/ignore_the_body"), "POST"),
    Case("file", get(b"/own_file")),
    Case("part of a file", get(b"/own_file", b"range: bytes=2-9")),
    Case("several parts of a file", get(b"/own_file", b"range: bytes=0-1,4-5")),
    Case("static file", get(b"/files/client.py")),
    Case("static file out of reach", get(b"/files/%2e%2e/client.py")),
    Case(
        "preflight",
        get(
            b"/big", b"origin: https://app.example", b"access-control-request-method: GET", method=b"OPTIONS"
        ),
        "OPTIONS",
    ),
    Case("origin", get(b"/empty", b"origin: https://app.example")),
    Case("work after the response", get(b"/later")),
    Case("upgrade to HTTP/2", get(b"/count", b"connection: upgrade", b"upgrade: h2c")),
]
MAY_DIFFER = {b"date", b"server", b"connection", b"transfer-encoding", b"content-length"}
"""Headers about the connection and the framing may differ."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_same_answer(case: Case, ports: tuple[int, int]) -> None:
    ours, theirs = [await ask(port, case.data, case.method) for port in ports]
    assert comparable(ours) == comparable(theirs)


def comparable(answer: ParsedResponse) -> Any:
    headers = {name: value for name, value in answer.headers.items() if name not in MAY_DIFFER}
    boundary = headers.get(b"content-type", b"").partition(b"boundary=")[2]
    headers[b"content-type"] = headers.get(b"content-type", b"").removesuffix(boundary)
    body = answer.body.replace(boundary, b"") if boundary else answer.body
    return answer.status, headers, body


@pytest.mark.parametrize(
    ("data", "body"),
    [
        # uvicorn turns trailers into headers, and keeps spaces at the end of a value.
        (
            chunked(b"hi", trailers=[b"x: y"]).replace(b"POST /", b"POST /headers"),
            b'{"transfer-encoding":"chunked"}',
        ),
        (post(b"", b"x: spaced \t", target=b"/headers"), b'{"content-length":"0","x":"spaced"}'),
        # It sends chunks to HTTP/1.0 clients.
        (post(b"hello", target=b"/stream_back", version=b"1.0"), b"hello"),
        # It implements an older ASGI, where a framework has to poll for a disconnect, and may lose parts of a
        # body.
        (post(b"x" * 500_000, target=b"/stream_back"), b"x" * 500_000),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_where_we_differ(data: bytes, body: bytes, ports: tuple[int, int]) -> None:
    assert (await ask(ports[0], data, "POST")).body == body


async def test_first_example_of_asgi() -> None:
    async with on_ours(bare) as ours, on_uvicorn(bare) as theirs:
        answers = [await ask(port, get(), "GET") for port in (ours, theirs)]
    for answer in answers:
        assert (answer.status, answer.body, answer.headers[b"content-length"]) == (200, b"hello", b"5")


@pytest.mark.parametrize("host", [on_ours, on_uvicorn])
async def test_background_work_is_done_after_the_answer(host: Host) -> None:
    DONE.clear()
    async with host(starlette()) as port:
        await ask(port, get(b"/later"), "GET")
    assert DONE == ["then"]


async def test_client_that_leaves_ends_a_stream(caplog: pytest.LogCaptureFixture) -> None:
    """On uvicorn it would continue, because sending after a disconnect raises no error there."""
    ended = asyncio.Event()

    async def endless(request: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x" * 1000
            finally:
                ended.set()

        return StreamingResponse(parts())

    app = Starlette(routes=[Route("/", endless)])
    with caplog.at_level(logging.ERROR):
        async with on_ours(app) as port, asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(get())
            assert await reader.read(1000)
            writer.transport.abort()
            await ended.wait()
    assert caplog.records == []


@pytest.mark.parametrize("host", [on_ours, on_uvicorn])
async def test_client_that_leaves_in_its_body_is_an_exception_of_the_framework(host: Host) -> None:
    received = asyncio.Event()

    async def read(request: Request) -> Response:
        try:
            await request.body()
        except ClientDisconnect:
            received.set()
        return Response()

    async with host(Starlette(routes=[Route("/", read, methods=["POST"])])) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(post(b"hello")[:-1])
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(PATIENCE):
            await received.wait()
