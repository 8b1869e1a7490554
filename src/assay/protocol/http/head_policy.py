"""Checks of a request's head, before its body is read: host, origin, method, media types, protocol version.

The verdict is a pure function of a few header values, and a client repeats them with every request. So
verdicts are cached, and a repeated head costs one lookup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from assay.model.error import INVALID_REQUEST, RpcError
from assay.model.jsonrpc import RequestId
from assay.model.strictness import LENIENT, Strictness
from assay.protocol.codec import encode, error_reply
from assay.revisions.revision import Revision
from assay.revisions.served import EVERY, Served

from .policy import HttpPolicy

Headers = list[tuple[bytes, bytes]]

JSON: Final = (b"content-type", b"application/json")
EXPOSED: Final = b"mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce"
ALLOWED_HEADERS: Final = (
    b"content-type, accept, authorization, dpop, last-event-id, "
    b"mcp-protocol-version, mcp-session-id, mcp-method, mcp-name"
)
PARAMETER: Final = b"mcp-param-"
HEAD_BYTES: Final = 64 * 1024
"""What the values of one `RequestHead` may come to; HTTP servers differ in whether they set a bound at
all."""
MOST_PARTS: Final = 64
"""Parts of a header value that are read; the rest is ignored. Each part is a step of Python, and a head of
commas would have tens of thousands."""
READ_ONCE: Final = frozenset(
    {
        b"host",
        b"origin",
        b"content-type",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"mcp-method",
        b"mcp-name",
        b"last-event-id",
    }
)
"""Headers that a decision depends on. A second value is refused: a proxy may have checked the other one."""


class RequestHead(NamedTuple):
    """The method and header values that a verdict depends on."""

    method: str
    host: bytes | None
    origin: bytes | None
    content_type: bytes | None
    accept: bytes | None
    version: bytes | None


HeadValues = tuple[str, bytes | None, bytes | None, bytes | None, bytes | None, bytes | None]
"""`RequestHead` as a plain tuple, which is cheaper to build: the cache key, made on every request."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response that ends the request: status, extra headers, and a JSON-RPC error as body."""

    status: int
    reason: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    code: int = INVALID_REQUEST
    request_id: RequestId | None = None
    data: Any = None

    def body(self) -> bytes:
        return encode(error_reply(RpcError(self.code, self.reason, self.data), self.request_id))


class HeadTooLarge(Exception):
    """Raised instead of returned, because exceptions are not cached."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal = Refusal(431, f"headers too large: limit {HEAD_BYTES} bytes")


@dataclass(frozen=True, slots=True)
class Admission:
    """The head is acceptable. `revision` is none if the version header is absent or names one that is not
    served."""

    revision: Revision | None
    unknown_version: str | None
    cors: tuple[tuple[bytes, bytes], ...]
    prefers_stream: bool = False
    """The client prefers an event stream even for a single answer."""
    strictness: Strictness = LENIENT
    served: Served = EVERY


class HeadPolicy:
    """Accepts or refuses request heads for one endpoint."""

    def __init__(self, policy: HttpPolicy) -> None:
        self.policy = policy
        # Small, because anyone can fill it: 128 heads of at most HEAD_BYTES each stay under 8 MiB.
        self.judge = lru_cache(maxsize=128)(self._judge)

    def _judge(self, values: HeadValues) -> Admission | Refusal:
        """
        Raises:
            HeadTooLarge: the values exceed HEAD_BYTES.
        """
        head = RequestHead(*values)
        if sum(len(value) for value in head if value is not None) > HEAD_BYTES:
            raise HeadTooLarge
        refusal = self.check_source(head.host, head.origin) or self._check_method(head)
        if refusal is not None:
            return refusal
        version = None if head.version is None else head.version.decode("latin-1").strip()
        revision = None if version is None else self.policy.served.by_date.get(version)
        unknown = version if revision is None else None
        streams = self.policy.streaming and prefers_stream(head.accept)
        policy = self.policy
        return Admission(revision, unknown, cors(head.origin), streams, policy.strictness, policy.served)

    def check_source(self, raw_host: bytes | None, raw_origin: bytes | None) -> Refusal | None:
        """Refuse a Host or Origin that is not allowed.

        Servers MUST validate Origin against DNS rebinding, where a page of a foreign site reaches a server on
        the user's machine (basic/transports, security warning). Host is checked, too: after rebinding, a
        browser may send no Origin, but it sends the attacker's name as Host.
        """
        host = (raw_host or b"").decode("latin-1")
        if not self.policy.admits_host(host):
            return Refusal(421, f"host not allowed: {host or 'none given'}; add it to allowed_hosts")
        origin = None if raw_origin is None else raw_origin.decode("latin-1")
        if origin is not None and not self.policy.admits_origin(origin):
            return Refusal(403, f"origin not allowed: {origin}; add it to allowed_origins")
        return None

    def _check_method(self, head: RequestHead) -> Refusal | None:
        if head.method == "POST":
            return self._check_post(head)
        if head.method == "GET" and self.policy.streaming:
            missing = missing_types(head.accept, ("text/event-stream",))
            return _not_acceptable(missing) if missing else None
        if head.method in ("DELETE", "OPTIONS") and self.policy.streaming:
            return None
        if head.method == "OPTIONS":
            return None
        return Refusal(405, f"method not allowed: {head.method}", ((b"allow", self.methods),))

    def _check_post(self, head: RequestHead) -> Refusal | None:
        problem = content_type_problem(head.content_type)
        if problem:
            return Refusal(415, problem)
        # Clients MUST list both types (basic/transports#sending-messages-to-the-server).
        types = ("application/json", "text/event-stream") if self.policy.streaming else ("application/json",)
        missing = missing_types(head.accept, types)
        return _not_acceptable(missing) if missing else None

    @property
    def methods(self) -> bytes:
        return b"GET, POST, DELETE, OPTIONS" if self.policy.streaming else b"POST, OPTIONS"

    def preflight(self, headers: Mapping[bytes, bytes]) -> Headers:
        """The response headers of an OPTIONS request. CORS cannot allow the headers of tool parameters by
        their prefix, so the requested ones are listed."""
        requested = headers.get(b"access-control-request-headers", b"").lower().split(b",")
        parameters = [name.strip() for name in requested if name.strip().startswith(PARAMETER)]
        return [
            *cors(headers.get(b"origin")),
            (b"allow", self.methods),
            (b"access-control-allow-methods", self.methods),
            (b"access-control-allow-headers", b", ".join([ALLOWED_HEADERS, *parameters])),
            (b"access-control-max-age", b"600"),
        ]


def merge_headers(pairs: Headers, headers: dict[bytes, bytes]) -> Refusal | None:
    """Handle repeated headers: refuse those in `READ_ONCE`, and join `Accept`, which is a list, in place."""
    names: set[bytes] = set()
    for name, _ in pairs:
        if name in names and name in READ_ONCE:
            return Refusal(400, f"header given twice: {name.decode('latin-1')}")
        names.add(name)
    if b"accept" in headers:
        headers[b"accept"] = b", ".join(value for name, value in pairs if name == b"accept")
    return None


def content_type_problem(value: bytes | None) -> str | None:
    if value is None:
        return "content-type missing: send application/json"
    media, *parameters = (part.strip().lower() for part in _parts(value.decode("latin-1"), ";"))
    if media != "application/json":
        return f"content-type not supported: {media}; send application/json"
    for parameter in parameters:
        name, _, charset = parameter.partition("=")
        if name.strip() == "charset" and charset.strip('" ') not in ("utf-8", "utf8"):
            return f"charset not supported: {charset}; send UTF-8"
    return None


def missing_types(accept: bytes | None, types: tuple[str, ...]) -> list[str]:
    """The media types that an Accept header does not include."""
    ranges = _media_ranges(accept)
    return [media for media in types if _quality_of(media, ranges) <= 0]


def _quality_of(media: str, ranges: dict[str, float]) -> float:
    """The most specific range takes precedence (RFC 9110, 12.5.1)."""
    candidates = (media, media.partition("/")[0] + "/*", "*/*")
    return next((ranges[name] for name in candidates if name in ranges), 0.0)


def prefers_stream(accept: bytes | None) -> bool:
    """Whether an Accept header prefers event streams to JSON: by quality, or by order if that is equal."""
    ranges = _media_ranges(accept)
    stream, json = ranges.get("text/event-stream", 0.0), ranges.get("application/json", 0.0)
    order = list(ranges)
    return stream > json or (
        stream == json > 0 and order.index("text/event-stream") < order.index("application/json")
    )


def _media_ranges(accept: bytes | None) -> dict[str, float]:
    """Media ranges with their quality, in the order of the header."""
    text = (accept or b"").decode("latin-1").lower()
    parts = (part.partition(";") for part in _parts(text, ","))
    return {media.strip(): _quality(parameters) for media, _, parameters in parts}


def _parts(text: str, separator: str) -> list[str]:
    return text.split(separator, MOST_PARTS)[:MOST_PARTS]


def _quality(parameters: str) -> float:
    for parameter in _parts(parameters.replace(" ", ""), ";"):
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def _not_acceptable(missing: list[str]) -> Refusal:
    return Refusal(406, f"accept must list {' and '.join(missing)}")


def cors(origin: bytes | None) -> tuple[tuple[bytes, bytes], ...]:
    if origin is None:
        return ()
    return (
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", EXPOSED),
        (b"vary", b"origin"),
    )
