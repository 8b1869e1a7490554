"""Every request says which version it speaks, what its client can do, and who that is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.evidence import FIRST
from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

TOLD = (("META-05", VERSION_KEY, str), ("META-06", CAPABILITIES_KEY, dict), ("META-07", CLIENT_KEY, dict))


@check("Requests describe themselves", rows=("META-05", "META-06", "META-07"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.shape is Shape.REQUEST and message.method != FIRST:
            meta = meta_of(message)
            for row, key, kind in TOLD:
                given = meta.get(key)
                expected, observed = f"`{key}` in `_meta`", f"{given!r}"
                yield observe(row, isinstance(given, kind), message, expected=expected, observed=observed)


def meta_of(message: Message) -> dict[str, Any]:
    meta = message.params.get("_meta")
    return meta if isinstance(meta, dict) else {}
