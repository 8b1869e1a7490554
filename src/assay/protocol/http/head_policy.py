"""What a request's head alone decides, before a byte of its body is read.

The verdict is a pure function of a few header values, and one client sends the same ones again
and again: so verdicts are remembered, and a repeated head costs one look-up.
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
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

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
"""Headers that decide something here: a second value of one of them would make that ambiguous."""


class RequestHead(NamedTuple):
    """The header values that a verdict depends on."""

    method: str
    host: bytes | None
    origin: bytes | None
    content_type: bytes | None
    accept: bytes | None
    version: bytes | None


HeadValues = tuple[str, bytes | None, bytes | None, bytes | None, bytes | None, bytes | None]
"""The same without names: what a head is looked up by, on every request."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that ends the request: status, extra headers, and a JSON-RPC error without an id."""

    status: int
    reason: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    code: int = INVALID_REQUEST
    request_id: RequestId | None = None
    data: Any = None

    def body(self) -> bytes:
        return encode(error_reply(RpcError(self.code, self.reason, self.data), self.request_id))


class HeadTooLarge(Exception):
    """Raised instead of returned, because what is raised is not remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal = Refusal(431, f"headers too large: limit {HEAD_BYTES} bytes")


@dataclass(frozen=True, slots=True)
class Admission:
    """The head is in order. `revision` is none when the version header is absent or unknown."""

    revision: Revision | None
    unknown_version: str | None
    cors: tuple[tuple[bytes, bytes], ...]
    prefers_stream: bool = False
    """The client would rather have even a single answer as an event stream."""
    strictness: Strictness = LENIENT


class HeadPolicy:
    """Judges heads for one endpoint."""

    def __init__(self, policy: HttpPolicy) -> None:
        self.policy = policy
        # Small, because its keys come from strangers: 128 heads of at most HEAD_BYTES each stay under 8 MiB.
        self.judge = lru_cache(maxsize=128)(self._judge)

    def _judge(self, values: HeadValues) -> Admission | Refusal:
        """
        Raises:
            HeadTooLarge: these values are not worth remembering.
        """
        head = RequestHead(*values)
        if sum(len(value) for value in head if value is not None) > HEAD_BYTES:
            raise HeadTooLarge
        refusal = self.check_source(head.host, head.origin) or self._check_method(head)
        if refusal is not None:
            return refusal
        version = None if head.version is None else head.version.decode("latin-1").strip()
        revision = None if version is None else BY_DATE.get(version)
        unknown = version if revision is None else None
        streams = self.policy.streaming and prefers_stream(head.accept)
        return Admission(revision, unknown, cors(head.origin), streams, self.policy.strictness)

    def check_source(self, given_host: bytes | None, given_origin: bytes | None) -> Refusal | None:
        """Whether a client may come by this name of ours, and from this origin."""
        host = (given_host or b"").decode("latin-1")
        if not self.policy.admits_host(host):
            return Refusal(421, f"host not allowed: {host or 'none given'}; add it to allowed_hosts")
        origin = None if given_origin is None else given_origin.decode("latin-1")
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
        wanted = ("application/json", "text/event-stream") if self.policy.streaming else ("application/json",)
        missing = missing_types(head.accept, wanted)
        return _not_acceptable(missing) if missing else None

    @property
    def methods(self) -> bytes:
        return b"GET, POST, DELETE, OPTIONS" if self.policy.streaming else b"POST, OPTIONS"

    def preflight(self, headers: Mapping[bytes, bytes]) -> Headers:
        """Headers that answer an OPTIONS request. Those of tool parameters are allowed by their prefix,
        which CORS cannot say, so the ones that were asked for are named."""
        asked = headers.get(b"access-control-request-headers", b"").lower().split(b",")
        parameters = [name.strip() for name in asked if name.strip().startswith(PARAMETER)]
        return [
            *cors(headers.get(b"origin")),
            (b"allow", self.methods),
            (b"access-control-allow-methods", self.methods),
            (b"access-control-allow-headers", b", ".join([ALLOWED_HEADERS, *parameters])),
            (b"access-control-max-age", b"600"),
        ]


def merge_headers(pairs: Headers, headers: dict[bytes, bytes]) -> Refusal | None:
    """Look at headers that come more than once: one that decides something may not; `Accept`, being a
    list, is joined in place."""
    seen: set[bytes] = set()
    for name, _ in pairs:
        if name in seen and name in READ_ONCE:
            return Refusal(400, f"header given twice: {name.decode('latin-1')}")
        seen.add(name)
    if b"accept" in headers:
        headers[b"accept"] = b", ".join(value for name, value in pairs if name == b"accept")
    return None


def content_type_problem(value: bytes | None) -> str | None:
    if value is None:
        return "content-type missing: send application/json"
    media, *parameters = (part.strip().lower() for part in value.decode("latin-1").split(";"))
    if media != "application/json":
        return f"content-type not supported: {media}; send application/json"
    for parameter in parameters:
        name, _, charset = parameter.partition("=")
        if name.strip() == "charset" and charset.strip('" ') not in ("utf-8", "utf8"):
            return f"charset not supported: {charset}; send UTF-8"
    return None


def missing_types(accept: bytes | None, wanted: tuple[str, ...]) -> list[str]:
    """Which of the wanted media types an Accept header does not admit."""
    ranges = _media_ranges(accept)
    return [media for media in wanted if _quality_of(media, ranges) <= 0]


def _quality_of(media: str, ranges: dict[str, float]) -> float:
    """The most specific range decides, even against a wider one (RFC 9110, 12.5.1)."""
    candidates = (media, media.partition("/")[0] + "/*", "*/*")
    return next((ranges[name] for name in candidates if name in ranges), 0.0)


def prefers_stream(accept: bytes | None) -> bool:
    """Whether an Accept header ranks event streams above JSON: by quality, else by naming them first."""
    ranges = _media_ranges(accept)
    stream, json = ranges.get("text/event-stream", 0.0), ranges.get("application/json", 0.0)
    order = list(ranges)
    return stream > json or (
        stream == json > 0 and order.index("text/event-stream") < order.index("application/json")
    )


def _media_ranges(accept: bytes | None) -> dict[str, float]:
    """Media ranges and their quality, in the order they are given."""
    parts = (part.partition(";") for part in (accept or b"").decode("latin-1").lower().split(","))
    return {media.strip(): _quality(parameters) for media, _, parameters in parts}


def _quality(parameters: str) -> float:
    for parameter in parameters.replace(" ", "").split(";"):
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
