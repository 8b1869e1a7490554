"""Calls of fixture tools that ask the client, with what they asked and were answered."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.driver.question import Round, rounds_of
from assay.lab.harness.trace.trace import Exchange, Trace

from .answered import answered


def asking_calls(trace: Trace, tool: str, method: str) -> Iterator[tuple[Exchange, list[Round]]]:
    """Every answered call of a tool, and its questions of one method."""
    rounds = list(rounds_of(trace, method))
    for exchange in answered(trace, "tools/call", name=tool):
        yield exchange, [one for one in rounds if one.outcome.request is exchange.request]
