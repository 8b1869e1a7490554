"""The attributes of spans and metrics that are known before a request is served. Most are the same for every
call
of a tool, so they are cached."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from assay.protocol.middleware import Host
from assay.protocol.middleware import ServedCall as Call
from assay.revisions.registry import REVISIONS

from .subject import SUBJECTS, Subject, find_name

OPERATIONS: Final = "mcp.server.operation.duration"
SESSIONS: Final = "mcp.server.session.duration"
BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""In seconds, from the conventions."""
VERSION: Final = "mcp.protocol.version"
OTHER: Final = "_OTHER"
"""Replaces the name of an unknown method, which the client can choose freely."""
MAX_LENGTH: Final = 256
"""Characters of a value that the client chooses: a name, the id of a request."""
MAX_CACHED: Final = 1024
"""When more labels are cached, the cache is cleared."""
INITIALIZE: Final = "initialize"
"""The request that negotiates the version, so its labels cannot name one."""
PROTOCOL: Final = frozenset().union(*(revision.requests for revision in REVISIONS))
NETWORK: Final[dict[str, dict[str, str]]] = {
    "stdio": {"network.transport": "pipe"},
    "http": {"network.transport": "tcp", "network.protocol.name": "http"},
    "websocket": {"network.transport": "tcp", "network.protocol.name": "websocket"},
}
PROFILE_TRANSPORTS: Final = {"http": "http+sse", "websocket": "ws"}
"""Transports that the marketplace profile names differently."""
ATTRIBUTES: Final = {
    "tool": "gen_ai.tool.name",
    "prompt": "gen_ai.prompt.name",
    "resource": "mcp.resource.uri",
}


class Labels(Struct, eq=False):
    name: str
    """Name of the span."""
    span: dict[str, Any]
    metric: dict[str, Any]
    """Holds nothing that clients choose: every new value would be stored forever."""
    text: bytes = b""
    metric_text: bytes = b""
    """Both as exported, once they have been encoded."""


Key = tuple[str, str, Subject | None]


class MethodLabels:
    """The labels of one method."""

    def __init__(self, host: Host, method: str, *, profile: bool) -> None:
        self._host = host
        self._original = None if is_known(host, method) else method[:MAX_LENGTH]
        self._method = method if self._original is None else OTHER
        self._subject_of = SUBJECTS.get(method)
        self._profile = profile
        self._cache: dict[Key, Labels] = {}

    def of(self, call: Call, params: Any) -> Labels:
        subject = None if self._subject_of is None else self._subject_of(params)
        key = (call.scope.transport, call.peer.revision.date, subject)
        labels = self._cache.get(key)
        if labels is None:
            name = None if subject is None else find_name(self._host, subject)
            labels = self._make(key, name)
            if subject is None or name is not None:
                self._keep(key, labels)
        return labels

    def _keep(self, key: Key, labels: Labels) -> None:
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[key] = labels

    def _make(self, key: Key, name: str | None) -> Labels:
        transport, version, subject = key
        common = {"mcp.method.name": self._method, **NETWORK.get(transport, {})}
        if self._method != INITIALIZE:
            common[VERSION] = version
        target = name if subject is not None and subject.kind != "resource" else None
        title = self._method if target is None else f"{self._method} {target}"
        span = common | self._requested(subject)
        if subject is not None and target is not None:
            common[ATTRIBUTES[subject.kind]] = target
        if self._method == "tools/call":
            common["gen_ai.operation.name"] = span["gen_ai.operation.name"] = "execute_tool"
        if self._profile:
            span |= self._profile_attributes(transport, subject, name)
        return Labels(title, span, common)

    def _requested(self, subject: Subject | None) -> dict[str, str]:
        """What the client named, whether it exists or not."""
        requested = {} if self._original is None else {"rpc.method_original": self._original}
        return (
            requested if subject is None else requested | {ATTRIBUTES[subject.kind]: subject.key[:MAX_LENGTH]}
        )

    def _profile_attributes(
        self, transport: str, subject: Subject | None, name: str | None
    ) -> dict[str, str]:
        """The same, by the names of the marketplace profile."""
        attributes = {
            "rpc.method": self._method,
            "rpc.jsonrpc": "2.0",
            "transport.type": PROFILE_TRANSPORTS.get(transport, transport),
        }
        if subject is None:
            return attributes
        return attributes | {
            "capability.kind": subject.kind,
            "capability.name": name or subject.key[:MAX_LENGTH],
        }


def is_known(host: Host, method: str) -> bool:
    """Whether this is a method of the protocol or a custom one."""
    if method in PROTOCOL:
        return True
    return any(custom.name == method for revision in REVISIONS for custom in host.custom_methods.of(revision))
