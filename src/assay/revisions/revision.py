"""What can differ between two revisions of the protocol, as named features.

A revision is its predecessor plus a delta (`Revision.successor`), so each `r<date>.py` reads like
that revision's changelog. Code asks for a feature, never for a date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from assay.model.error import INVALID_REQUEST, PARSE_ERROR, RESOURCE_NOT_FOUND


class Opening(Enum):
    """How the two sides learn of each other."""

    HANDSHAKE = "handshake"
    PER_REQUEST = "per request"


class Asking(Enum):
    """How a server gets an answer from the client in the middle of a request."""

    BY_REQUEST = "by request"
    BY_RETRY = "by retry"


class Batching(Enum):
    REFUSED = "refused"
    ACCEPTED = "accepted"


class Results(Enum):
    """What a result says of itself."""

    PLAIN = "plain"
    TYPED = "typed"
    """`resultType`, the server's identity in `_meta`, and hints for caches where they apply."""


class BadArguments(Enum):
    """How a tool call whose arguments do not fit the tool's schema is answered."""

    RPC_ERROR = "JSON-RPC error"
    TOOL_ERROR = "tool result"


class Structured(Enum):
    """What `structuredContent` may be."""

    ABSENT = "absent"
    OBJECT = "object"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class HttpRules:
    """What a revision says about Streamable HTTP."""

    sessions: bool = True
    resumable: bool = True
    """Events carry ids, and a GET with `Last-Event-ID` continues a stream."""
    priming: bool = False
    """A stream opens with an event that has an id and no data; `retry` may precede a close."""
    version_header: bool = False
    """After the handshake a client names the agreed version in a header of each request."""
    disconnect_cancels: bool = False
    """Hanging up ends the request; otherwise its work goes on."""
    mirrored: Mapping[str, str] | None = None
    """Headers must repeat what the body says: which parameter `Mcp-Name` repeats, by method."""
    statuses: Mapping[int, int] = field(
        default_factory=lambda: MappingProxyType({PARSE_ERROR: 400, INVALID_REQUEST: 400})
    )
    """HTTP status of an answer that is a JSON-RPC error; 200 where a code is not listed."""


# Compared by identity: there is one value per revision, and dictionaries are keyed by it on the hot path.
@dataclass(frozen=True, slots=True, eq=False)
class Revision:
    date: str
    opening: Opening = Opening.HANDSHAKE
    asking: Asking = Asking.BY_REQUEST
    batching: Batching = Batching.REFUSED
    bad_arguments: BadArguments = BadArguments.RPC_ERROR
    structured: Structured = Structured.ABSENT
    resource_not_found: int = RESOURCE_NOT_FOUND
    results: Results = Results.PLAIN
    cacheable: frozenset[str] = frozenset()
    """Methods whose results carry hints for caches."""
    missing_capability: int | None = None
    """Code of the error for a request that needs what its client did not declare; none where a
    handler is told instead."""
    logs_on_demand: bool = False
    """Log messages go only to a request that asks for them."""
    elicitation_ids: bool = True
    """Whether a url elicitation is named, so that its end can be announced."""
    content: frozenset[str] = frozenset()
    """Types of content blocks that its messages may hold."""
    elicitation: frozenset[str] = frozenset()
    """Modes of elicitation: form, url."""
    multi_select: bool = False
    """Whether an elicitation form may let the user pick several values."""
    sampling_tools: bool = False
    """Whether a sampling request may offer tools and hold several blocks in one message."""
    capabilities: frozenset[str] = frozenset()
    """Capability keys that a server of this revision may declare."""
    requests: frozenset[str] = frozenset()
    """Methods of requests that clients send."""
    notifications: frozenset[str] = frozenset()
    """Methods of notifications that clients send."""
    http: HttpRules = field(default_factory=HttpRules)

    def successor(
        self,
        date: str,
        *,
        added: Mapping[str, set[str]] = MappingProxyType({}),
        removed: Mapping[str, set[str]] = MappingProxyType({}),
        **changed: Any,
    ) -> Revision:
        """This revision with a delta: members added to and removed from its sets, features changed."""
        sets = {
            name: (getattr(self, name) | added.get(name, set())) - removed.get(name, set())
            for name in {*added, *removed}
        }
        return replace(self, date=date, **sets, **changed)

    def __str__(self) -> str:
        return self.date
