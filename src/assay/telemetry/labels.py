"""What spans and metrics say of a request before it is served. Most of it is the same for every call of a
tool, so it is put together once."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from assay.protocol.layer import Host
from assay.protocol.layer import LayeredCall as Call
from assay.revisions.registry import REVISIONS

from .subject import SUBJECTS, Subject, find_name

OPERATIONS: Final = "mcp.server.operation.duration"
SESSIONS: Final = "mcp.server.session.duration"
BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""Seconds, as the conventions have them."""
VERSION: Final = "mcp.protocol.version"
OTHER: Final = "_OTHER"
"""What a method is called that the server does not have: strangers choose its name."""
LONGEST: Final = 256
"""Characters of what strangers choose: a name, the id of a request."""
KEPT: Final = 1024
"""Labels that are kept; when there are more, they are made anew."""
INITIALIZE: Final = "initialize"
"""The one request that agrees on a version, so that its labels cannot name one."""
PROTOCOL: Final = frozenset().union(*(revision.requests for revision in REVISIONS))
NETWORK: Final[dict[str, dict[str, str]]] = {
    "stdio": {"network.transport": "pipe"},
    "http": {"network.transport": "tcp", "network.protocol.name": "http"},
    "websocket": {"network.transport": "tcp", "network.protocol.name": "websocket"},
}
PROFILED: Final = {"http": "http+sse", "websocket": "ws"}
"""Transports, where the profile calls them otherwise than we do."""
ATTRIBUTES: Final = {
    "tool": "gen_ai.tool.name",
    "prompt": "gen_ai.prompt.name",
    "resource": "mcp.resource.uri",
}


class Labels(Struct, eq=False):
    name: str
    """Of the span."""
    span: dict[str, Any]
    metric: dict[str, Any]
    """Nothing in it is for strangers to choose: each new value would be kept for ever."""
    text: bytes = b""
    metric_text: bytes = b""
    """Both as they are exported, once somebody has written them."""


Key = tuple[str, str, Subject | None]


class Labelling:
    """The labels of one method."""

    def __init__(self, host: Host, method: str, *, profile: bool) -> None:
        self._host = host
        self._original = None if is_known(host, method) else method[:LONGEST]
        self._method = method if self._original is None else OTHER
        self._subject_of = SUBJECTS.get(method)
        self._profile = profile
        self._kept: dict[Key, Labels] = {}

    def of(self, call: Call, params: Any) -> Labels:
        subject = None if self._subject_of is None else self._subject_of(params)
        key = (call.scope.transport, call.peer.revision.date, subject)
        labels = self._kept.get(key)
        if labels is None:
            name = None if subject is None else find_name(self._host, subject)
            labels = self._make(key, name)
            if subject is None or name is not None:
                self._keep(key, labels)
        return labels

    def _keep(self, key: Key, labels: Labels) -> None:
        if len(self._kept) >= KEPT:
            self._kept.clear()
        self._kept[key] = labels

    def _make(self, key: Key, name: str | None) -> Labels:
        transport, version, subject = key
        common = {"mcp.method.name": self._method, **NETWORK.get(transport, {})}
        if self._method != INITIALIZE:
            common[VERSION] = version
        target = name if subject is not None and subject.kind != "resource" else None
        title = self._method if target is None else f"{self._method} {target}"
        span = common | self._spoken(subject)
        if subject is not None and target is not None:
            common[ATTRIBUTES[subject.kind]] = target
        if self._method == "tools/call":
            common["gen_ai.operation.name"] = span["gen_ai.operation.name"] = "execute_tool"
        if self._profile:
            span |= self._profiled(transport, subject, name)
        return Labels(title, span, common)

    def _spoken(self, subject: Subject | None) -> dict[str, str]:
        """What the client named, whether it is there or not."""
        spoken = {} if self._original is None else {"rpc.method_original": self._original}
        return spoken if subject is None else spoken | {ATTRIBUTES[subject.kind]: subject.key[:LONGEST]}

    def _profiled(self, transport: str, subject: Subject | None, name: str | None) -> dict[str, str]:
        """The names of the marketplace's profile for the same."""
        said = {
            "rpc.method": self._method,
            "rpc.jsonrpc": "2.0",
            "transport.type": PROFILED.get(transport, transport),
        }
        if subject is None:
            return said
        return said | {"capability.kind": subject.kind, "capability.name": name or subject.key[:LONGEST]}


def is_known(host: Host, method: str) -> bool:
    """Whether it is a method of the protocol, or one of the server's own."""
    if method in PROTOCOL:
        return True
    return any(custom.name == method for revision in REVISIONS for custom in host.custom_methods.of(revision))
