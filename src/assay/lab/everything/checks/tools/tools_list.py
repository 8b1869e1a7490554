"""Tools are listed with all that a model needs to use them, under names that fit, in the same order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaring import official_check
from assay.lab.everything.listed import judge_list, lacking
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.offering import TOOLS, judge_order

LIST, NAMES, ORDER = "tools-list", "tools-name-format", "tools-list-deterministic-order"
NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@official_check(LIST, "Tools are listed in full", rows=(LIST, NAMES, ORDER))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, LIST, "tools", _problem)
    for listing in listings(trace, "tools/list", "tools"):
        odd = [name for name in listing.names if NAME.fullmatch(name) is None]
        if listing.names:
            expected = "1 to 128 of the characters A-Z a-z 0-9 _ - ."
            yield observe(NAMES, not odd, listing, expected=expected, observed=", ".join(map(repr, odd)))
    yield from judge_order(trace, ORDER, TOOLS)


def _problem(tool: dict[str, Any]) -> str | None:
    if missing := lacking(tool, "name", "description"):
        return missing
    return None if isinstance(tool.get("inputSchema"), dict) else f"{tool['name']!r} without inputSchema"
