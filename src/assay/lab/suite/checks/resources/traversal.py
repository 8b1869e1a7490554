"""Paths that climb out of what is offered lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

# The file that scenarios climb to: on every Unix, without secrets, with this word in it.
TARGET, WORD = "etc/hosts", "localhost"


@check("file:// paths do not lead out of what is offered", rows=("RS-16",))
def judge(trace: Trace) -> Iterator[Observation]:
    reads = [one for one in trace.exchanges("resources/read") if _path(one).endswith(TARGET)]
    # A server that offers the whole file system gives nothing away by this.
    offered = any(_leaks(one) for one in reads if not _climbs(one))
    for exchange in reads:
        if _climbs(exchange) and not offered and exchange.answer is not None:
            expected = "an error: the path leads out of the resources"
            yield observe("RS-16", not _leaks(exchange), exchange, expected=expected, observed=exchange)


def _path(exchange: Exchange) -> str:
    uri = exchange.params.get("uri")
    return uri.lower().replace("%2f", "/").replace("%2e", ".") if isinstance(uri, str) else ""


def _climbs(exchange: Exchange) -> bool:
    return ".." in _path(exchange)


def _leaks(exchange: Exchange) -> bool:
    return any(WORD in str(item.get("text")) for item in exchange.objects("contents"))
