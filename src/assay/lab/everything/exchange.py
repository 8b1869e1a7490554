"""The exchanges that a check looks for: by method and by what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness import Trace
from assay.lab.harness.trace.trace import Exchange


def answered(trace: Trace, method: str, **params: Any) -> Iterator[Exchange]:
    """Requests of a method with these parameters that were answered, or refused by an HTTP status."""
    for exchange in trace.exchanges(method):
        fits = all(exchange.params.get(key) == value for key, value in params.items())
        if fits and (exchange.answer is not None or _is_refused(exchange)):
            yield exchange


def _is_refused(exchange: Exchange) -> bool:
    return exchange.head is not None and exchange.head.status >= 400
