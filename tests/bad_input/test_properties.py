"""Any bytes, in chunks of any size, get an answer, an error or nothing, and never raise an exception."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay import Limits, Server
from assay.protocol.scope import Scope
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from assay.transport.stdio import StdioConnection
from tests.bad_input.table import TABLE
from tests.driving.messages import call, initialize, notification, request

LINE_BYTES = 300
server = Server("properties", limits=Limits(message_bytes=LINE_BYTES, depth=8, batch=4))


@server.tool
async def echo(text: str) -> str:
    return text


@server.tool
async def later(text: str) -> str:
    await turn()
    await turn()
    return text


@server.resource("notes://{name}")
async def note(name: str) -> str:
    return name


@server.prompt
async def review(code: str) -> str:
    return code


def encoded(message: Any) -> bytes:
    return json.dumps(message).encode()


class Lines:
    """The sending side of a connection, as a list."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def post(self, message: bytes) -> None:
        self.sent.append(message)

    async def send(self, message: bytes) -> None:
        self.sent.append(message)


async def turn() -> None:
    """Run one iteration of the event loop."""
    gone = asyncio.Event()
    asyncio.get_running_loop().call_soon(gone.set)
    await gone.wait()


async def replies_to(chunks: list[bytes]) -> list[bytes]:
    lines = Lines()
    connection = StdioConnection(server, lines)  # type: ignore[arg-type]
    for number, chunk in enumerate(chunks):
        connection.feed(chunk)
        if number % 2:
            await turn()
    connection.end()
    await connection.drain()
    return sorted(lines.sent)


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[start:end] for start, end in pairwise(places)]


LINES = st.one_of(
    st.sampled_from(
        [
            b"",
            b" \t",
            b"{",
            b"\xff",
            b"[]",
            b"x" * (LINE_BYTES + 1),
            encoded(notification("notifications/initialized")),
            encoded({"jsonrpc": "2.0", "id": 1, "result": {}}),
        ]
    ),
    st.tuples(st.sampled_from(["echo", "later", "none"]), st.text(max_size=9)),
    st.binary(max_size=20),
)


def stream_of(lines: list[bytes | tuple[str, str]], end: bytes, last: bytes) -> bytes:
    """Give each call a different id, because the answer to a reused id would depend on timing."""
    numbered = [
        line if isinstance(line, bytes) else encoded(call(line[0], number, text=line[1]))
        for number, line in enumerate(lines)
    ]
    return end.join([encoded(initialize(HANDSHAKE[-1])), *numbered, b""]) + last


STREAMS = st.builds(
    stream_of,
    st.lists(LINES, max_size=8),
    st.sampled_from([b"\n", b"\r\n"]),
    st.sampled_from([b"", b'{"jsonrpc":"2.0","id":"last","method":"ping"}']),
)


@settings(deadline=None, max_examples=150)
@given(STREAMS, st.lists(st.integers(min_value=0), max_size=40))
def test_replies_do_not_depend_on_chunking(stream: bytes, cuts: list[int]) -> None:
    assert asyncio.run(replies_to([stream])) == asyncio.run(replies_to(cut(stream, cuts)))


@settings(deadline=None, max_examples=25)
@given(STREAMS)
def test_a_stream_byte_by_byte_gives_the_same_replies(stream: bytes) -> None:
    single = [stream[place : place + 1] for place in range(len(stream))]
    assert asyncio.run(replies_to([stream])) == asyncio.run(replies_to(single))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4)
    ),
    max_leaves=12,
)
METHODS = [
    "ping",
    "initialize",
    "tools/call",
    "tools/list",
    "resources/read",
    "prompts/get",
    "logging/setLevel",
]
METHODS += [
    "completion/complete",
    "resources/subscribe",
    "notifications/cancelled",
    "notifications/initialized",
]
MEMBERS = {
    "jsonrpc": st.just("2.0") | JSON,
    "id": st.integers() | st.text(max_size=4) | JSON,
    "method": st.sampled_from(METHODS) | JSON,
    "params": st.dictionaries(
        st.sampled_from(
            ["name", "arguments", "uri", "cursor", "level", "ref", "argument", "_meta", "requestId"]
        ),
        JSON | st.sampled_from(["echo", "review", "notes://a", "debug"]),
    )
    | JSON,
    "result": JSON,
    "error": JSON,
}
MESSAGES = st.fixed_dictionaries({}, optional=MEMBERS).map(encoded)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A message with some bytes replaced."""
    body = draw(MESSAGES | st.lists(MESSAGES, max_size=5).map(lambda items: b"[" + b",".join(items) + b"]"))
    start = draw(st.integers(0, len(body)))
    end = draw(st.integers(start, min(len(body), start + 4)))
    return body[:start] + draw(st.binary(max_size=4)) + body[end:]


BODIES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    JSON.map(encoded),
    MESSAGES,
    mutated(),
    st.sampled_from([row.sent for row in TABLE]),
)


def check_reply(reply: Any) -> None:
    """Check that this is a response by any revision, or an error without an id."""
    if isinstance(reply, list):
        assert reply
        for member in reply:
            check_reply(member)
        return
    assert reply["jsonrpc"] == "2.0"
    assert isinstance(reply.get("id", ""), int | str)
    if "error" in reply:
        assert reply.keys() <= {"jsonrpc", "id", "error"}
        assert isinstance(reply["error"]["code"], int)
        assert isinstance(reply["error"]["message"], str)
    else:
        assert reply.keys() == {"jsonrpc", "id", "result"}
        assert isinstance(reply["result"], dict)


async def serve_all(bodies: list[bytes], revision: Revision | None) -> None:
    """Serve these in order, with or without a session, and then a valid message."""
    sent: list[bytes] = []
    session = None if revision is None else server.open_session(sent.append)
    scope = Scope(session=session)
    if revision is not None:
        await server.handle(initialize(revision), scope=scope)
        await server.handle(notification("notifications/initialized"), scope=scope)
    for body in bodies:
        reply = await server.handle(body, scope=scope)
        if reply is not None:
            check_reply(msgspec.json.decode(reply))
    assert await server.handle(request("ping"), scope=scope) == b'{"jsonrpc":"2.0","id":1,"result":{}}'
    assert sent == []
    if session is not None:
        assert not session.in_flight
        server.close_session(session)


@settings(deadline=None, max_examples=300)
@given(st.lists(BODIES, min_size=1, max_size=4), st.sampled_from([None, *HANDSHAKE]))
@example([b'{"jsonrpc":"2.0","id":1,"method":"ping","id":' + b"9" * 5000 + b"}"], None)
@example([b'[{"jsonrpc":"2.0","id":1,"method":"ping"},' * 3], HANDSHAKE[1])
def test_any_bytes_get_a_reply_an_error_or_nothing(bodies: list[bytes], revision: Revision | None) -> None:
    asyncio.run(serve_all(bodies, revision))


ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
"""Including lone surrogates, which `json.loads` accepts."""


@settings(deadline=None, max_examples=100)
@given(ANY_TEXT | st.fixed_dictionaries({}, optional={**MEMBERS, "id": ANY_TEXT, "result": ANY_TEXT}))
@example({"jsonrpc": "2.0", "id": "\ud800", "method": "ping"})
def test_text_and_mappings_are_served_like_bytes(message: Any) -> None:
    reply = asyncio.run(server.handle(message))
    if reply is not None:
        check_reply(msgspec.json.decode(reply))
