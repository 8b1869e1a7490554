"""Sending requests in traces of their own, and waiting for the spans that the server makes of them."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Any

import msgspec

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.subject.otlp import attributes
from assay.lab.harness.subject.out_of_band import Spans

from .obs_spans import PARENT, SERVER, names_method


def new_trace() -> tuple[str, dict[str, str]]:
    """The id of a new trace, and what the `_meta` of a request says to belong to it."""
    trace_id = secrets.token_hex(16)
    return trace_id, {PARENT: f"00-{trace_id}-{secrets.token_hex(8)}-01"}


async def hear_spans(stage: Stage, methods: dict[str, str]) -> None:
    """Record the spans of these traces, of which each has one request, of that method: they come in the
    server's own time, and no later than ours ends."""
    ends = time.monotonic() + stage.patience
    found = await asyncio.gather(*(_spans_of(stage, one, ends) for one in methods))
    spans = [span for of_one in found for span in of_one]
    # A server may not care for our traces, and have spans all the same.
    for span in spans or _elsewhere(_source(stage).every(), set(methods.values())):
        stage.hear_span(msgspec.json.encode(span))


def _source(stage: Stage) -> Spans:
    source = stage.surroundings.spans
    assert source is not None, "the scenario must need SPANS_TO_SEE"
    return source


def _elsewhere(spans: list[dict[str, Any]], methods: set[str]) -> list[dict[str, Any]]:
    """The last span of each of these methods."""
    found: dict[str, dict[str, Any]] = {}
    for span in spans:
        for method in methods:
            if names_method(str(span.get("name")), attributes(span), method):
                found[method] = span
    return list(found.values())


async def _spans_of(stage: Stage, trace_id: str, ends: float) -> list[dict[str, Any]]:
    """Until there is one of kind SERVER: spans within it end before it does, and may come before it."""
    found: list[dict[str, Any]] = []
    while (left := ends - time.monotonic()) > 0:
        before = len(found)
        found = await _source(stage).of(trace_id, left, before + 1)
        if len(found) == before or any(span.get("kind") == SERVER for span in found):
            break
    return found
