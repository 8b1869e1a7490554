"""Server saboteurs: a healthy server with one named fault each.

They come last in the topic modules of a suite. Most change messages of the server:

    @on_reply("answers an unknown tool with an empty result", breaks="TL-19")
    def unknown_empty(reply: Json, context: FaultContext) -> Json:
        if context.method == "tools/call" and "error" in reply:
            return {"jsonrpc": "2.0", "id": reply["id"], "result": {"content": []}}
        return reply

Others change messages to the server (`on_request`, `on_batch`, or as bytes `on_body`), raw lines (`on_line`),
HTTP requests (`on_call`), response heads (`on_response`), blocks of event streams (`on_block`), spans
(`on_span`) or the end of the process (`on_termination`), or replace the server (`scripted`).
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
"""As the server of a saboteur: the reference server, which requires a token; other words may follow."""
WITH_CERTIFICATES = "certified"
"""Before the words of a server: it requires a client certificate, on HTTP only."""


DISCONNECTED = "disconnected"
"""In the state that the connections of an HTTP server share: whether a client left before its response."""


class _WithHeaders(Struct):
    headers: list[tuple[str, str]]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def set(self, name: str, value: str | None) -> None:
        """Replace all headers of that name, or remove them if the value is None."""
        self.headers = [(key, old) for key, old in self.headers if key.lower() != name.lower()]
        if value is not None:
            self.headers.append((name, value))


class Request(_WithHeaders):
    """An HTTP request to the server."""

    method: str
    target: str
    body: bytes = b""


class Response(_WithHeaders):
    """An HTTP response to the driver, before its messages."""

    status: int
    body: bytes | None = None
    """If set, replaces the body of the server."""
    lingers: bool = False
    """Keep the connection open after the body."""


class FaultContext(Struct):
    """What a fault knows about the message that it changes."""

    transport: Transport
    revision: Revision
    request: Json | None = None
    """The request that the message answers, if it answers one."""
    call: Request | None = None
    """The HTTP request that the message belongs to."""
    streams: bool = False
    """Whether the message comes on an event stream, which can carry more messages."""
    memory: dict[str, Any] = field(default_factory=dict)
    """State of the fault, for each connection, or for each HTTP server."""
    shared: dict[str, Any] = field(default_factory=dict)
    """State of the fault that all connections of a server share; on stdio, each has its own server. On HTTP,
    a separate process of the server has the same."""

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
    """Returned by `on_request` to answer with these messages instead of forwarding the request."""

    messages: list[Any]
    status: int | None = None
    """The HTTP status, if not the default."""
    delay: float = 0.0
    """Seconds until it is sent, during which nothing else of the connection is read."""


Changed = Any
"""A message, bytes that need not be a message, a list of these, or None to send nothing."""
OnReply = Callable[[Json, FaultContext], Changed]
OnRequest = Callable[[Json, FaultContext], Json | LocalAnswer]
OnBody = Callable[[bytes, FaultContext], bytes | LocalAnswer]
OnBatch = Callable[[list[Any], FaultContext], list[Any] | LocalAnswer]
OnLine = Callable[[bytes, FaultContext], bytes]
OnCall = Callable[[Request, FaultContext], Response | None]
OnResponse = Callable[[Response, FaultContext], None]
OnBlock = Callable[[bytes, FaultContext], bytes]
OnHandshake = Callable[[SSLContext], None]
OnSpan = Callable[[Json], Json | None]
OnTermination = Callable[[Request, FaultContext], Response | None]


class Double(Struct, frozen=True):
    """A healthy implementation of an extension that the server lacks, between the saboteur and the server."""

    name: str
    request: OnRequest
    reply: OnReply


class Conversation(Protocol):
    """The server side of a stdio connection, for scripts."""

    ignores_termination: bool
    """Whether the process keeps running after SIGTERM."""

    async def receive(self) -> Any:
        """The next message, decoded; None after the driver closed the input."""

    def send(self, message: Any) -> None:
        """Send a message, or bytes unchanged."""


Script = Callable[[Conversation, Revision], Awaitable[None]]


class Saboteur(Fault, frozen=True):
    server: str | None = None
    """The bundled server to sabotage, if not the suite's default."""
    double: Double | None = None
    silent: bool = False
    """Whether an answer or a notification is missing: trials then begin with a short timeout."""
    reply: OnReply | None = None
    request: OnRequest | None = None
    body: OnBody | None = None
    batch: OnBatch | None = None
    line: OnLine | None = None
    call: OnCall | None = None
    response: OnResponse | None = None
    block: OnBlock | None = None
    handshake: OnHandshake | None = None
    span: OnSpan | None = None
    script: Script | None = None
    termination: OnTermination | None = None
    ignores_termination: bool = False
    """Whether the process keeps running after SIGTERM; for scripts, see `Conversation`."""


def params_of(message: Json) -> Json:
    """The params of a message, to read or to change; a new empty object if it has none."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(message: Json) -> Json:
    """The `_meta` of a message, likewise."""
    meta = params_of(message).get("_meta")
    return meta if isinstance(meta, dict) else {}


def error_reply(message: Json, code: int, text: str, **data: Any) -> Json:
    """An error reply with the id of `message`, which is a request or a reply."""
    error = {"code": code, "message": text, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


def result_reply(message: Json, result: Json) -> Json:
    """A result with the id of `message`, which is a request or a reply."""
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def newest_of_each_kind(revision: Revision) -> bool:
    """A window for a fault, if another saboteur of the same requirement runs at every revision."""
    return revision in (HANDSHAKE[-1], PER_REQUEST[-1])


on_reply = maker(Saboteur, "reply", BOTH)
"""Change each message of the server: replies, requests and notifications."""


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
            matches = not methods or context.method in methods
            if matches and (not name or context.params.get("name") == name) and "result" in reply:
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
"""Change each message of the driver, or return a `LocalAnswer`."""
on_body = maker(Saboteur, "body", BOTH)
"""Change each body of the driver as bytes, also one that is not JSON, or return a `LocalAnswer`."""
on_batch = maker(Saboteur, "batch", BOTH)
"""Change each batch of the driver, as a list, or return a `LocalAnswer`."""
on_line = maker(Saboteur, "line", STDIO_ONLY)
"""Change each line of the server as bytes, including the newline."""
on_call = maker(Saboteur, "call", HTTP_ONLY)
"""Change each HTTP request, or return a `Response` instead of forwarding it."""
on_response = maker(Saboteur, "response", HTTP_ONLY)
"""Change the status and headers of each HTTP response, or replace its body."""
on_block = maker(Saboteur, "block", HTTP_ONLY)
"""Change each block of an event stream as bytes, including the blank line."""
on_handshake = maker(Saboteur, "handshake", HTTP_ONLY)
"""Change the TLS context of a server that requires client certificates."""
on_span = maker(Saboteur, "span", HTTP_ONLY)
"""Change each span that the server exports, or return None to drop it. On HTTP only: behind the other proxies
the server uses another transport than the driver, and its spans name that one."""
on_termination = maker(Saboteur, "termination", HTTP_ONLY)
"""After SIGTERM, answer each HTTP request in progress with a `Response`, or return None to cut it off."""
scripted = maker(Saboteur, "script", STDIO_ONLY)
"""Replace the server by a script."""
