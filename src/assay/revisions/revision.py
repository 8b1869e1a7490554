"""Protocol revisions as values with named features.

A revision is its predecessor plus a delta (`Revision.successor`), so each `r<date>.py` reads like that
revision's changelog. Code checks a feature, never a date.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay.model.error import INVALID_REQUEST, PARSE_ERROR, RESOURCE_NOT_FOUND


class Opening(Enum):
    """How client and server exchange versions and capabilities."""

    HANDSHAKE = "handshake"
    PER_REQUEST = "per request"


class Asking(Enum):
    """How a server asks the client something while it serves a request."""

    BY_REQUEST = "by request"
    BY_RETRY = "by retry"


class Batching(Enum):
    REFUSED = "refused"
    ACCEPTED = "accepted"


class Results(Enum):
    """Which fields all results have in common."""

    PLAIN = "plain"
    TYPED = "typed"
    """`resultType`, the server's name in `_meta`, and caching hints for some methods."""


class BadArguments(Enum):
    """How a tool call with invalid arguments is answered."""

    RPC_ERROR = "JSON-RPC error"
    TOOL_ERROR = "tool result"


class Structured(Enum):
    """What `structuredContent` may be."""

    ABSENT = "absent"
    OBJECT = "object"
    ANY = "any"


class TaskForm(Enum):
    """How clients can run a tool as a task, which outlives its request."""

    ABSENT = "absent"
    CORE = "core"
    """The client asks for it with `task` in the parameters; `tasks` is a capability of both sides."""
    EXTENSION = "extension"
    """The server decides, for clients that declared the extension `io.modelcontextprotocol/tasks`."""


class HttpRules(Struct, frozen=True):
    """The rules of a revision for Streamable HTTP."""

    sessions: bool = True
    resumable: bool = True
    """Events have ids, and a GET with `Last-Event-ID` resumes a stream."""
    priming: bool = False
    """A stream starts with an event that has an id and no data; `retry` may precede a close."""
    version_header: bool = False
    """After the handshake, clients send the negotiated version in a header of each request."""
    disconnect_cancels: bool = False
    """Whether disconnecting cancels the request."""
    mirrored: Mapping[str, str] | None = None
    """Headers must match the body: the parameter that `Mcp-Name` repeats, by method."""
    statuses: Mapping[int, int] = field(
        default_factory=lambda: MappingProxyType({PARSE_ERROR: 400, INVALID_REQUEST: 400})
    )
    """The HTTP status for JSON-RPC error codes; 200 for others."""


# Compared by identity: each revision has one value, and the hot path uses it as a dictionary key.
class Revision(Struct, frozen=True, eq=False):
    date: str
    opening: Opening = Opening.HANDSHAKE
    asking: Asking = Asking.BY_REQUEST
    batching: Batching = Batching.REFUSED
    bad_arguments: BadArguments = BadArguments.RPC_ERROR
    structured: Structured = Structured.ABSENT
    resource_not_found: int = RESOURCE_NOT_FOUND
    results: Results = Results.PLAIN
    cacheable: frozenset[str] = frozenset()
    """Methods whose results have caching hints."""
    missing_capability: int | None = None
    """The error code for a request that needs an undeclared client capability; None if there is no such
    code, and the handler gets an exception instead."""
    logs_on_demand: bool = False
    """Log messages are only sent for requests that ask for them."""
    elicitation_ids: bool = True
    """Whether an elicitation by URL has an id, to announce its completion."""
    tasks: TaskForm = TaskForm.ABSENT
    content: frozenset[str] = frozenset()
    """The types of content blocks."""
    elicitation: frozenset[str] = frozenset()
    """Modes of elicitation: form, url."""
    multi_select: bool = False
    """Whether elicitation forms support multiple choice."""
    sampling_tools: bool = False
    """Whether sampling requests may offer tools and have several blocks in a message."""
    capabilities: frozenset[str] = frozenset()
    """Capabilities that a server may declare."""
    requests: frozenset[str] = frozenset()
    """Requests from clients, by method."""
    experimental: frozenset[str] = frozenset()
    """Requests from clients that the revision has as an experiment."""
    notifications: frozenset[str] = frozenset()
    """Notifications from clients, by method."""
    http: HttpRules = field(default_factory=HttpRules)

    def successor(
        self,
        date: str,
        *,
        added: Mapping[str, set[str]] = MappingProxyType({}),
        removed: Mapping[str, set[str]] = MappingProxyType({}),
        **changed: Any,
    ) -> Revision:
        """The next revision: this one with members added to and removed from its sets, and features
        changed."""
        sets = {
            name: (getattr(self, name) | added.get(name, set())) - removed.get(name, set())
            for name in {*added, *removed}
        }
        return replace(self, date=date, **sets, **changed)

    def __str__(self) -> str:
        return self.date
