"""Faults in spans: no front sees them pass, so they are changed where the driver picks them up."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from msgspec.structs import replace

from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.out_of_band import Spans

from .saboteur import OnSpan, Saboteur


class AlteredSpans:
    def __init__(self, inner: Spans, change: OnSpan) -> None:
        self._inner = inner
        self._change = change

    async def of(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        return self._changed(await self._inner.of(trace_id, patience, count))

    def every(self) -> list[dict[str, Any]]:
        return self._changed(self._inner.every())

    def _changed(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # A copy: the receiver keeps its own for whoever asks again.
        changed = (self._change(deepcopy(span)) for span in found)
        return [span for span in changed if span is not None]


def with_fault(conditions: Conditions, saboteur: Saboteur) -> Conditions:
    """The conditions of a trial: what the driver sees of spans is what the fault makes of them."""
    around = conditions.surroundings
    if saboteur.span is None or around.spans is None:
        return conditions
    altered = replace(around, spans=AlteredSpans(around.spans, saboteur.span))
    return replace(conditions, surroundings=altered)
