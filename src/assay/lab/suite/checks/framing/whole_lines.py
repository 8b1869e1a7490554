"""A message does not go over several lines: what stands between two newlines is all of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe

MOST = 300
"""Lines that are tried as one message: a printed message of more has shorter ones beside it."""
EXPECTED = "a message without a newline in it"


@check("A message is one line", rows=("STD-01",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    lines: dict[str, list[Message]] = defaultdict(list)
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            lines[message.frame.channel].append(message)
    for channel in lines.values():
        yield from _judged(channel)


def _judged(lines: Sequence[Message]) -> Iterator[Observation]:
    place = 0
    while place < len(lines):
        count = _lines_of_one(lines[place : place + MOST])
        found = lines[place : place + max(count, 1)]
        if count:
            observed = f"one in {count} lines"
            yield observe("STD-01", count == 1, *found, expected=EXPECTED, observed=observed)
        place += len(found)


def _lines_of_one(lines: Sequence[Message]) -> int:
    """How many lines make up the message that begins here; 0 where none does."""
    if lines[0].value is not None:
        return 1
    if not lines[0].body.lstrip().startswith((b"{", b"[")):
        return 0
    parts: list[bytes] = []
    for line in lines:
        # The rest of a message may be a value by itself, like `]`; a whole object is another message.
        if parts and isinstance(line.value, dict):
            break
        parts.append(line.body)
        if len(parts) > 1 and _is_message(b"\n".join(parts)):
            return len(parts)
    return 0


def _is_message(text: bytes) -> bool:
    try:
        # Not strict: a raw newline inside a text is just what is looked for.
        return isinstance(json.loads(text, strict=False), dict | list)
    except (ValueError, RecursionError):
        return False
