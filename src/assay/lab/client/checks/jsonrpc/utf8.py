"""What is not ASCII is UTF-8."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ESCAPE = b"\\u"
"""Who writes other characters so need not encode any."""


@check("Messages are UTF-8", rows=("BASE-12",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if not message.body.isascii() or ESCAPE in message.body:
            problem = _problem(message.body)
            yield observe("BASE-12", problem is None, message, expected="bytes in UTF-8", observed=problem)


def _problem(body: bytes) -> str | None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"{body[max(error.start - 10, 0) : error.end + 10]!r} at byte {error.start}"
    return None
