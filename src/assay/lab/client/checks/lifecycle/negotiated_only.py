"""A client asks only for what its server declared, and announces only what it declared itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.evidence import Handshake, handshakes
from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "LIFE-14"
OF_SERVERS = {
    "tools/": ("tools",),
    "prompts/": ("prompts",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
    "resources/": ("resources",),
    "logging/": ("logging",),
    "completion/": ("completions",),
}
"""What a server declares to be asked so; the first that fits decides."""
ROOTS_CHANGED = "notifications/roots/list_changed"


@check("Only negotiated capabilities are used", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        served = (handshake.exchange.result or {}).get("capabilities")
        for message in handshake.later if isinstance(served, dict) else ():
            path = _needed(message, trace)
            if path is not None:
                expected = f"no {message.method} where the server did not declare `{'.'.join(path)}`"
                yield observe(
                    ROW, _has(served, path), message, handshake, expected=expected, observed=message
                )
            if message.method == ROOTS_CHANGED:
                yield _announced(handshake, message)


def _needed(message: Message, trace: Trace) -> tuple[str, ...] | None:
    path = next((path for prefix, path in OF_SERVERS.items() if message.method.startswith(prefix)), None)
    # Completion had no capability of its own at first.
    return path if path is None or path[0] in trace.revision.capabilities else None


def _has(declared: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        declared = declared.get(name) if isinstance(declared, dict) else None
    return declared is not None and declared is not False


def _announced(handshake: Handshake, message: Message) -> Observation:
    holds = _has(handshake.exchange.params.get("capabilities"), ("roots", "listChanged"))
    expected = "no such notification of a client that did not declare `roots.listChanged`"
    return observe(ROW, holds, message, handshake, expected=expected, observed=message)
