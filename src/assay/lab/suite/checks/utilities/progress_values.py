"""Progress goes forward, and says something if it says anything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Progress increases", rows=("PRG-03", "PRG-06"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for told in _by_request(trace):
        for before, message in pairwise(told):
            last, now = _value(before), _value(message)
            if last is not None and now is not None:
                expected = f"more than {last}"
                yield observe("PRG-03", now > last, before, message, expected=expected, observed=now)
        for message in told:
            if "message" in message.params:
                text = message.params["message"]
                meant = isinstance(text, str) and bool(text.strip())
                yield observe("PRG-06", meant, message, expected="a text for people", observed=repr(text))


def _by_request(trace: Trace) -> Iterator[list[Message]]:
    """What was told under one token on one channel; a request that uses the token anew begins anew."""
    told: dict[tuple[str, str], list[Message]] = {}
    for message in trace.messages:
        if message.by_subject and message.method == "notifications/progress":
            token = message.params.get("progressToken")
            told.setdefault((repr(token), message.frame.channel), []).append(message)
        elif not message.by_subject and (token := _asked_for(message)) is not None:
            again = [key for key in told if key[0] == repr(token)]
            yield from [told.pop(key) for key in again]
    yield from told.values()


def _asked_for(message: Message) -> Any:
    meta = message.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _value(message: Message) -> float | None:
    value = message.params.get("progress")
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
