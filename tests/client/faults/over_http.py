"""Faults of HTTP servers, of what is in between, and of names and ports."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final
from unittest import mock

from assay import (
    ConnectionFailed,
    HttpFailure,
    InvalidAnswer,
    ServerError,
    Timeout,
    ToolFailed,
)
from assay.bundled.everything import server as everything
from assay.revisions.registry import HANDSHAKE
from tests.client.faults.row import HASTY, Fault, Target, calling, opening
from tests.client.scripted import (
    INITIALIZED,
    HttpRequest,
    Responder,
    Writer,
    answering,
    http_response,
    raw_http,
    result,
)
from tests.driving.certificates import Authority
from tests.driving.hosts import on_assay

Answers = Callable[[HttpRequest, Writer], None]
OK: Final = "200 OK"
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
EVENTS: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
HANDSHAKE_ONLY: Final = HANDSHAKE[-1].date
HTML: Final = b"<!doctype html><title>Sign in</title>"


# Places to connect to.


@contextlib.asynccontextmanager
async def closed_port() -> AsyncIterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield f"http://127.0.0.1:{port}/mcp"


@contextlib.asynccontextmanager
async def full_backlog() -> AsyncIterator[str]:
    """A port whose queue is full, so that the system drops what asks for a connection."""
    with contextlib.ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            filler = sockets.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


@contextlib.asynccontextmanager
async def slow_names() -> AsyncIterator[str]:
    async def never(*arguments: Any, **options: Any) -> Any:
        await asyncio.Event().wait()

    with mock.patch.object(asyncio.get_running_loop(), "getaddrinfo", never):
        yield "http://example.invalid/mcp"


@contextlib.asynccontextmanager
async def unknown_name() -> AsyncIterator[str]:
    async def fail(*arguments: Any, **options: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with mock.patch.object(asyncio.get_running_loop(), "getaddrinfo", fail):
        yield "http://example.invalid/mcp"


@contextlib.asynccontextmanager
async def untrusted() -> AsyncIterator[str]:
    from tests.client.test_tls import encrypted

    with tempfile.TemporaryDirectory() as directory:
        async with encrypted(Authority(Path(directory), "authority")) as address:
            yield f"https://{address}"


@contextlib.asynccontextmanager
async def plain_behind_https() -> AsyncIterator[str]:
    async with on_assay(everything.asgi()) as port:
        yield f"https://127.0.0.1:{port}/mcp"


def serving(respond: Responder) -> Target:
    @contextlib.asynccontextmanager
    async def target() -> AsyncIterator[str]:
        async with raw_http(respond) as server:
            yield server.url

    return target


async def silent(request: HttpRequest, writer: Writer) -> None:
    return


def refusing(status: str, body: bytes = b"", kind: str = "text/plain", extra: str = "") -> Target:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response(status, body, kind, extra))

    return serving(respond)


def on_call(answer: Answers) -> Target:
    """Agrees to the newest revision, answers tool calls as told, and lists no tools."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.message["method"] == "tools/call":
            answer(request, writer)
        else:
            writer.write(http_response(OK, result(request, {"tools": []})))

    return serving(answering(respond))


def raw(data: bytes, *, close: bool = True) -> Target:
    def answer(request: HttpRequest, writer: Writer) -> None:
        writer.write(data)
        if close:
            writer.close()

    return on_call(answer)


def reset(request: HttpRequest, writer: Writer) -> None:
    """A part of the body, then RST."""
    writer.write(HEAD + b"Content-Length: 100\r\n\r\n{")
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def moved(location: str, status: str = "307 Temporary Redirect") -> Target:
    return raw(http_response(status, extra=f"Location: {location}\r\n"), close=False)


def result_of(value: Any) -> Target:
    return on_call(lambda request, writer: writer.write(http_response(OK, result(request, value))))


def with_session(answers: Callable[[HttpRequest], bytes]) -> Target:
    """A server with the handshake; `answers` makes the response to a request after it."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        method = request.message["method"] if request.body else ""
        if method == "initialize":
            writer.write(http_response(OK, result(request, INITIALIZED), extra="Mcp-Session-Id: s\r\n"))
        elif not request.body or "id" not in request.message:
            writer.write(http_response("202 Accepted"))
        else:
            writer.write(answers(request))

    return serving(respond)


def version(date: str) -> Target:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.message["method"] == "server/discover":
            writer.write(http_response("400 Bad Request", b"Missing session", "text/plain"))
        else:
            writer.write(http_response(OK, result(request, {**INITIALIZED, "protocolVersion": date})))

    return serving(respond)


def forgetting_once() -> Target:
    refusals: list[bool] = []

    def answers(request: HttpRequest) -> bytes:
        if not refusals:
            refusals.append(True)
            return http_response("404 Not Found", b"Session not found", "text/plain")
        return http_response(OK, result(request, {"content": [], "tools": []}))

    return with_session(answers)


def forgetting(request: HttpRequest) -> bytes:
    if request.message["method"] == "tools/list":
        return http_response(OK, result(request, {"tools": []}))
    return http_response("404 Not Found", b"Session not found", "text/plain")


OPENING: Final = [
    opening("the port is closed", ConnectionFailed, "connection refused; is the server running", closed_port),
    opening(
        "the host does not answer: packets are dropped",
        ConnectionFailed,
        "no answer in 0.2 s; is a firewall in between?",
        full_backlog,
        limits=HASTY,
    ),
    opening(
        "the name of the host is unknown",
        ConnectionFailed,
        "the name of the host cannot be resolved; check its spelling and the network",
        unknown_name,
    ),
    opening(
        "the name server does not answer", ConnectionFailed, "no answer in 0.2 s", slow_names, limits=HASTY
    ),
    opening(
        "the certificate is not trusted",
        ConnectionFailed,
        "certificate is not trusted: unable to get local issuer certificate; pass tls= with its authority",
        untrusted,
    ),
    opening(
        "`https://` for a server without TLS",
        ConnectionFailed,
        "does the server expect http:// or ws:// instead?",
        plain_behind_https,
    ),
    opening(
        "the server accepts the connection and closes it",
        ConnectionFailed,
        "the server closed the connection before the answer was complete",
        serving(lambda request, writer: _close(writer)),
    ),
    opening(
        "the server never answers",
        Timeout,
        "the server did not open a session in 0.6 s",
        serving(silent),
        limits=HASTY,
        timeout=0.2,
    ),
    opening(
        "status 400 without a JSON-RPC error",
        HttpFailure,
        "the server does not accept the request: check the URL and the revision",
        refusing("400 Bad Request"),
    ),
    opening(
        "status 401",
        HttpFailure,
        "wants credentials",
        refusing("401 Unauthorized", extra='WWW-Authenticate: Bearer realm="x"\r\n'),
    ),
    opening(
        "status 403", HttpFailure, "refuses this caller: check the credentials", refusing("403 Forbidden")
    ),
    opening(
        "status 404: the path is wrong",
        HttpFailure,
        "this path is not an MCP endpoint: check the URL, often it ends with /mcp",
        refusing("404 Not Found"),
    ),
    opening(
        "status 405, and no event stream on GET",
        HttpFailure,
        "this path does not accept POST: check the URL",
        refusing("405 Method Not Allowed"),
    ),
    opening(
        "status 407 of a proxy",
        HttpFailure,
        "a proxy wants credentials",
        refusing("407 Proxy Authentication"),
    ),
    opening(
        "status 421: another host name is expected",
        HttpFailure,
        "the server does not know this host name",
        refusing("421 Misdirected Request"),
    ),
    opening(
        "status 429 with Retry-After",
        HttpFailure,
        "too many requests: wait, then try again (Retry-After: 7 s)",
        refusing("429 Too Many Requests", extra="Retry-After: 7\r\n"),
    ),
    opening(
        "status 500 with a page",
        HttpFailure,
        "the server failed: look at its log\n  body: <!doctype html>",
        refusing("500 Internal Server Error", HTML, "text/html"),
    ),
    opening(
        "status 502 of a proxy",
        HttpFailure,
        "the proxy does not reach the server: is it running?",
        refusing("502 Bad Gateway", HTML, "text/html"),
    ),
    opening(
        "status 503", HttpFailure, "busy or stopping: try again later", refusing("503 Service Unavailable")
    ),
    opening("status 504 of a proxy", HttpFailure, "got no answer from the server", refusing("504 Timeout")),
    opening(
        "a web page instead of an MCP server",
        HttpFailure,
        "is this an MCP endpoint?\n  body: <!doctype html>",
        refusing(OK, HTML, "text/html"),
    ),
    opening(
        "the revisions have nothing in common",
        ConnectionFailed,
        "no common protocol revision: the server supports 1999-01-01",
        version("1999-01-01"),
    ),
    opening(
        "another revision than the one that the user wants",
        ConnectionFailed,
        "and this client was to use 2025-06-18",
        version(HANDSHAKE[0].date),
        revision="2025-06-18",
    ),
]


async def _close(writer: Writer) -> None:
    writer.close()


CALLING: Final = [
    calling(
        "the server is killed during the call: the connection closes",
        ConnectionFailed,
        "the server closed the connection before the answer was complete",
        raw(b""),
    ),
    calling(
        "the connection is reset in the middle of the answer",
        ConnectionFailed,
        "before the answer was complete: [Errno 104] Connection reset by peer",
        on_call(reset),
    ),
    calling(
        "the answer is shorter than its Content-Length",
        ConnectionFailed,
        "before the answer was complete",
        raw(HEAD + b"Content-Length: 100\r\n\r\n{}"),
    ),
    calling(
        "a chunked answer is cut off",
        ConnectionFailed,
        "before the answer was complete",
        raw(CHUNKED + b"5\r\n{"),
    ),
    calling(
        "half-open TCP: the server has vanished without closing the connection",
        Timeout,
        "no answer to tools/call in 0.2 s",
        raw(b"", close=False),
        timeout=0.2,
    ),
    calling(
        "an event stream stalls before the answer",
        Timeout,
        "no answer to tools/call in 0.2 s",
        raw(EVENTS + b": still here\n\n", close=False),
        timeout=0.2,
    ),
    calling(
        "an event stream ends before the answer",
        ConnectionFailed,
        "the server ended the stream before the answer; the call may have run",
        raw(EVENTS + b": nothing\n\n"),
    ),
    calling(
        "status 502 during a call",
        HttpFailure,
        "the proxy does not reach the server",
        raw(http_response("502 Bad Gateway", HTML, "text/html"), close=False),
    ),
    calling(
        "status 202 without a body",
        HttpFailure,
        "the server answered with status 202 and no content type, not with a message",
        raw(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", close=False),
    ),
    calling(
        "an answer of another content type",
        HttpFailure,
        "the server answered with status 200 and text/plain, not with a message",
        raw(http_response(OK, b"{}", "text/plain"), close=False),
    ),
    calling(
        "invalid JSON",
        InvalidAnswer,
        "the server's answer is not a message",
        raw(http_response(OK, b'{"jsonrpc":'), close=False),
    ),
    calling(
        "an answer that is not UTF-8",
        InvalidAnswer,
        "the server's answer is not a message",
        raw(http_response(OK, b'{"jsonrpc":"2.0","id":"assay-2","result":"\xff"}'), close=False),
    ),
    calling(
        "an answer with an unknown id",
        InvalidAnswer,
        "does not have the id of the request",
        raw(http_response(OK, b'{"jsonrpc":"2.0","id":"x","result":{}}'), close=False),
    ),
    calling(
        "not HTTP",
        InvalidAnswer,
        "the server's HTTP response is invalid",
        raw(b"220 mail.example.com\r\n\r\n"),
    ),
    calling(
        "a head without end",
        InvalidAnswer,
        "exceeds limits.head_bytes: 4096 bytes",
        raw(HEAD + b"X: " + b"x" * 20_000, close=False),
    ),
    calling(
        "a body above the limit",
        InvalidAnswer,
        "exceeds limits.message_bytes: 10000 bytes",
        raw(HEAD + b"\r\n" + b"[" * 20_000, close=False),
    ),
    calling(
        "a compressed answer",
        InvalidAnswer,
        "the server compressed its answer (gzip), which was not asked for",
        raw(http_response(OK, b"\x1f\x8b", extra="Content-Encoding: gzip\r\n"), close=False),
    ),
    calling(
        "a redirect to another origin",
        HttpFailure,
        "redirected to https://example.com/mcp: use that URL if you trust it",
        moved("https://example.com/mcp"),
    ),
    calling("redirects in a circle", HttpFailure, "too many redirects", moved("/mcp")),
    calling(
        "a redirect that would turn POST into GET",
        HttpFailure,
        "redirected to /other",
        moved("/other", "302 Found"),
    ),
    calling(
        "a JSON-RPC error",
        ServerError,
        "no such tool (-32602)",
        on_call(
            lambda request, writer: writer.write(
                http_response(
                    OK, b'{"jsonrpc":"2.0","id":"assay-2","error":{"code":-32602,"message":"no such tool"}}'
                )
            )
        ),
    ),
    calling(
        "a tool that fails",
        ToolFailed,
        "tool anything failed: out of paper",
        result_of({"content": [{"type": "text", "text": "out of paper"}], "isError": True}),
    ),
    calling(
        "a result of an unknown form",
        InvalidAnswer,
        "the server's answer to tools/call of anything is invalid",
        result_of({"content": [{"type": "smell"}]}),
    ),
    calling(
        "the server has forgotten the session (404)",
        None,
        "",
        forgetting_once(),
        revision=HANDSHAKE_ONLY,
    ),
    calling(
        "the server forgets every session",
        HttpFailure,
        "the server has ended the session",
        with_session(forgetting),
        revision=HANDSHAKE_ONLY,
    ),
]
ROWS: Final[list[Fault]] = [*OPENING, *CALLING]
