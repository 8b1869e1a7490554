"""`x-mcp-header` marks only what a header can repeat, with a name that a header can have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.annotation import Annotation, annotations_of

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
REPEATABLE = {"integer", "string", "boolean", "null"}


@check(
    "Parameters are marked for headers as they may be",
    rows=("XH-02", "XH-03", "XH-04", "XH-05", "XH-06", "XH-07"),
)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            found = annotations_of(tool)
            times = Counter(str(one.value).lower() for one in found)
            for one in found:
                yield from _judge_value(one, exchange)
                yield from _judge_place(one, exchange)
                yield observe(
                    "XH-05",
                    times[str(one.value).lower()] == 1,
                    exchange,
                    expected=f"no other parameter of {tool.get('name')} with header {one.value}",
                    observed=f"{times[str(one.value).lower()]} of them",
                )


def _judge_value(one: Annotation, exchange: Exchange) -> Iterator[Observation]:
    value = one.value if isinstance(one.value, str) else ""
    shown = f"{one.value!r} at {'.'.join(one.path)}"
    yield observe("XH-02", bool(value), exchange, expected="a name for the header", observed=shown)
    if value:
        sound = TOKEN.fullmatch(value) is not None
        yield observe("XH-03", sound, exchange, expected="a token (`1*tchar`)", observed=shown)
        controls = any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in value)
        yield observe("XH-04", not controls, exchange, expected="no control characters", observed=shown)


def _judge_place(one: Annotation, exchange: Exchange) -> Iterator[Observation]:
    place = ".".join(one.path) or "the root"
    if one.types:
        yield observe(
            "XH-06",
            all(isinstance(kind, str) and kind in REPEATABLE for kind in one.types),
            exchange,
            expected="an integer, string or boolean parameter",
            observed=f"{place} is {', '.join(map(str, one.types))}",
        )
    yield observe(
        "XH-07",
        not one.via,
        exchange,
        expected="a parameter that is reached through `properties` alone",
        observed=f"{place}, through {one.via}",
    )
