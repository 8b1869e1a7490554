"""Sending requests in traces of their own, and waiting for the spans that the server makes of them."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Any

import msgspec

from assay.lab.harness.stage import Stage

from .obs_spans import PARENT, SERVER


def new_trace() -> tuple[str, dict[str, str]]:
    """The id of a new trace, and what the `_meta` of a request says to belong to it."""
    trace_id = secrets.token_hex(16)
    return trace_id, {PARENT: f"00-{trace_id}-{secrets.token_hex(8)}-01"}


async def hear_spans(stage: Stage, trace_ids: list[str]) -> None:
    """Record the spans of these traces: they come in the server's own time, and no later than ours ends."""
    ends = time.monotonic() + stage.patience
    for spans in await asyncio.gather(*(_spans_of(stage, one, ends) for one in trace_ids)):
        for span in spans:
            stage.hear_span(msgspec.json.encode(span))


async def _spans_of(stage: Stage, trace_id: str, ends: float) -> list[dict[str, Any]]:
    """Until there is one of kind SERVER: spans within it end before it does, and may come before it."""
    source = stage.surroundings.spans
    assert source is not None, "the scenario must need SPANS_TO_SEE"
    found: list[dict[str, Any]] = []
    while (left := ends - time.monotonic()) > 0:
        before = len(found)
        found = await source.of(trace_id, left, before + 1)
        if len(found) == before or any(span.get("kind") == SERVER for span in found):
            break
    return found
