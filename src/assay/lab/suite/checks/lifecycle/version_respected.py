"""What another revision has, and the agreed one has not, is not used."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.shape import knows
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Asking

CONTENT = frozenset[str]().union(*(revision.content for revision in REVISIONS))
INPUT_REQUIRED = "input_required"


@check("The agreed version is kept to", rows=("LIFE-13",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        # Methods that no revision has are a server's own business.
        if message.method and any(knows(message, revision) for revision in REVISIONS):
            yield observe(
                "LIFE-13",
                knows(message, trace.revision),
                message,
                expected=f"methods of {trace.revision}",
                observed=message,
            )
    for exchange in trace.exchanges("tools/call", "prompts/get", "resources/read"):
        if exchange.result is not None:
            foreign = sorted({kind for kind in _kinds(exchange) if kind in CONTENT - trace.revision.content})
            foreign += [INPUT_REQUIRED] if _asks_by_result(exchange, trace) else []
            yield observe(
                "LIFE-13",
                not foreign,
                exchange,
                expected=f"content and results of {trace.revision}",
                observed=", ".join(foreign),
            )


def _asks_by_result(exchange: Exchange, trace: Trace) -> bool:
    by_request = trace.revision.asking is Asking.BY_REQUEST
    return by_request and (exchange.result or {}).get("resultType") == INPUT_REQUIRED


def _kinds(exchange: Exchange) -> Iterator[str]:
    blocks = [*exchange.objects("content"), *(one.get("content") for one in exchange.objects("messages"))]
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(kind, str):
            yield kind
