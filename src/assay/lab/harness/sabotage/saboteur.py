"""Saboteurs: subjects with one named fault each, to prove that a check can fail.

They stand last in the topic modules of a suite. Most change what a healthy server sends:

    @on_reply("answers an unknown tool with an empty result", breaks="TL-19")
    def unknown_empty(reply: Json, context: FaultContext) -> Json:
        if context.method == "tools/call" and "error" in reply:
            return {"jsonrpc": "2.0", "id": reply["id"], "result": {"content": []}}
        return reply

Others change what it is asked (`on_request`, `on_batch`), raw lines (`on_line`), HTTP requests (`on_call`),
response heads (`on_response`), blocks of event streams (`on_block`) or spans (`on_span`), or play the whole
server (`scripted`).
How faults are put between driver and server is in `sabotage/`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from ssl import SSLContext
from typing import Any, Protocol

from msgspec import Struct, field

from assay.lab.harness.naming import id_of
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, Transport
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision

from .fault import Fault, maker

Json = dict[str, Any]
BOTH = frozenset({Transport.STDIO, Transport.HTTP})
WITH_TOKENS = "locked"
"""As the server that a fault stands before: the reference server, which lets in who shows a token."""
WITH_CERTIFICATES = "certified"
"""Before the words of a server: it lets in who shows a certificate, on HTTP."""


class _WithHeaders(Struct):
    headers: list[tuple[str, str]]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def set(self, name: str, value: str | None) -> None:
        """Put a header in place of those of that name; none takes them out."""
        self.headers = [(key, old) for key, old in self.headers if key.lower() != name.lower()]
        if value is not None:
            self.headers.append((name, value))


class Request(_WithHeaders):
    """An HTTP request on its way to the server."""

    method: str
    target: str
    body: bytes = b""


class Response(_WithHeaders):
    """An HTTP response on its way to the driver, before its messages."""

    status: int
    body: bytes | None = None
    """Set, it is sent in place of what the server answers."""
    lingers: bool = False
    """The connection is not closed after the body."""


class FaultContext(Struct):
    """What a fault may know of the place it is applied at."""

    transport: Transport
    revision: Revision
    request: Json | None = None
    """The request that the message answers; none where it answers none."""
    call: Request | None = None
    """The HTTP request that the message belongs to."""
    streams: bool = False
    """Whether the message comes on an event stream, which has room for others beside it."""
    memory: dict[str, Any] = field(default_factory=dict)
    """For the fault's own use; one for each connection, or for each HTTP server."""

    @property
    def method(self) -> str:
        return str((self.request or {}).get("method", ""))

    @property
    def params(self) -> Json:
        return params_of(self.request or {})

    @property
    def meta(self) -> Json:
        return meta_of(self.request or {})


class LocalAnswer(Struct):
    """Returned by `on_request`: the healthy server never sees the message; these are sent back instead."""

    messages: list[Any]
    status: int | None = None
    """Of the HTTP response, if not the usual one."""


Changed = Any
"""A message as a value; bytes for something that is none; a list of such for several; none for nothing."""
OnReply = Callable[[Json, FaultContext], Changed]
OnRequest = Callable[[Json, FaultContext], Json | LocalAnswer]
OnBatch = Callable[[list[Any], FaultContext], list[Any] | LocalAnswer]
OnLine = Callable[[bytes, FaultContext], bytes]
OnCall = Callable[[Request, FaultContext], Response | None]
OnResponse = Callable[[Response, FaultContext], None]
OnBlock = Callable[[bytes, FaultContext], bytes]
OnHandshake = Callable[[SSLContext], None]
OnSpan = Callable[[Json], Json | None]


class Double(Struct, frozen=True):
    """A healthy stand-in for an extension that the server lacks. It is put before the server, and a
    saboteur before it."""

    name: str
    request: OnRequest
    reply: OnReply


class Conversation(Protocol):
    """A scripted server's side of one stdio connection."""

    ignores_termination: bool
    """Whether its process goes on when it is asked to end."""

    async def receive(self) -> Any:
        """The next message, decoded; none when the driver hung up."""

    def send(self, message: Any) -> None:
        """Send a message, or any bytes as they are."""


Script = Callable[[Conversation, Revision], Awaitable[None]]


class Saboteur(Fault, frozen=True):
    server: str | None = None
    """The bundled server that it stands before, if not the suite's own."""
    double: Double | None = None
    """What is put between it and that server."""
    silent: bool = False
    """Something is never answered: the driver's patience is cut short."""
    reply: OnReply | None = None
    request: OnRequest | None = None
    batch: OnBatch | None = None
    line: OnLine | None = None
    call: OnCall | None = None
    response: OnResponse | None = None
    block: OnBlock | None = None
    handshake: OnHandshake | None = None
    span: OnSpan | None = None
    script: Script | None = None


def params_of(message: Json) -> Json:
    """What a message is sent with, to read or to change; what has no parameters is left alone that way."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(message: Json) -> Json:
    """The same for what a message says of itself."""
    meta = params_of(message).get("_meta")
    return meta if isinstance(meta, dict) else {}


def error_reply(message: Json, code: int, text: str, **data: Any) -> Json:
    """An error in place of the reply to `message`, or of the reply itself: both have the id."""
    error = {"code": code, "message": text, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


def result_reply(message: Json, result: Json) -> Json:
    """The same with a result."""
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def newest_of_each_kind(revision: Revision) -> bool:
    """A window for a fault that another saboteur of the same row already shows at every revision."""
    return revision in (HANDSHAKE[-1], PER_REQUEST[-1])


on_reply = maker(Saboteur, "reply", BOTH)
"""Change each message of the server: replies, and what it sends by itself."""


def on_result(
    fault: str,
    *,
    breaks: str,
    method: str | tuple[str, ...] = (),
    name: str = "",
    id: str = "",
    **options: Any,
) -> Callable[[Callable[[Json, FaultContext], None]], Saboteur]:
    """Edit successful results in place: those of these methods, and of the tool or prompt of that name."""
    methods = (method,) if isinstance(method, str) else method

    def decorated(edit: Callable[[Json, FaultContext], None]) -> Saboteur:
        def change(reply: Json, context: FaultContext) -> Json:
            asked = not methods or context.method in methods
            if asked and (not name or context.params.get("name") == name) and "result" in reply:
                edit(reply["result"], context)
            return reply

        saboteur: Saboteur = on_reply(fault, id=id or id_of(edit), breaks=breaks, **options)(change)
        return saboteur

    return decorated


ABSENT = object()
"""As a value in a table of edits: what is at that path is removed."""
Edit = tuple[str, str, str, "str | tuple[str | int, ...]", object]


def edited_results(method: str | tuple[str, ...], *rows: Edit, **options: Any) -> tuple[Saboteur, ...]:
    """Faults that differ only in data, as rows of id, fault, broken requirement, path and value.

    A path such as `tools.0.name` is one of keys and indices; it is a tuple where a key has a dot.
    """
    return tuple(
        on_result(fault, id=name, breaks=breaks, method=method, **options)(_edit(path, value))
        for name, fault, breaks, path, value in rows
    )


def _edit(path: str | tuple[str | int, ...], value: object) -> Callable[[Json, FaultContext], None]:
    keys = (
        path
        if isinstance(path, tuple)
        else tuple(int(key) if key.isdigit() else key for key in path.split("."))
    )

    def edit(result: Json, context: FaultContext) -> None:
        place = _at(result, keys[:-1])
        if value is ABSENT:
            place.pop(keys[-1], None)
        else:
            place[keys[-1]] = deepcopy(value)

    return edit


def _at(result: Json, path: tuple[str | int, ...]) -> Any:
    place: Any = result
    for key in path:
        place = place[key]
    return place


on_request = maker(Saboteur, "request", BOTH)
"""Change each message of the driver before the server sees it, or answer in its place."""
on_batch = maker(Saboteur, "batch", BOTH)
"""The same for each batch of the driver, as the list that it is."""
on_line = maker(Saboteur, "line", STDIO_ONLY)
"""Change each line of the server as bytes, newline included."""
on_call = maker(Saboteur, "call", HTTP_ONLY)
"""Change each HTTP request before the server sees it, or answer in its place by returning a `Response`."""
on_response = maker(Saboteur, "response", HTTP_ONLY)
"""Change the status and headers of each HTTP response, or replace its body."""
on_block = maker(Saboteur, "block", HTTP_ONLY)
"""Change each block of an event stream as bytes, its blank line included."""
on_handshake = maker(Saboteur, "handshake", HTTP_ONLY)
"""Change how the server meets clients that show certificates, before the first word."""
on_span = maker(Saboteur, "span", HTTP_ONLY)
"""Change each span that the server exports, or keep it back by returning none. On HTTP only: behind the other
fronts the server is on a transport that is not the driver's, and its spans say so."""
scripted = maker(Saboteur, "script", STDIO_ONLY)
"""Play the whole server."""
