"""Structured content is there once more as text, for clients that know nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import tool_calls


@check("Structured content is also given as text", rows=("TL-14",))
def judge(trace: Trace) -> Iterator[Observation]:
    for call in tool_calls(trace):
        if call.succeeded and "structuredContent" in call.result:
            texts = [block.get("text") for block in call.blocks if block.get("type") == "text"]
            same = any(_says(text, call.result["structuredContent"]) for text in texts)
            yield observe(
                "TL-14",
                same,
                call,
                expected="a text block with the structured content as JSON",
                observed=f"{len(texts)} text blocks, none of them the same",
            )


def _says(text: Any, value: Any) -> bool:
    try:
        return isinstance(text, str) and bool(msgspec.json.decode(text) == value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
