"""Session ids: what they are made of, and that nobody can guess one from another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

VISIBLE = range(0x21, 0x7F)
GUESSABLE = 6
"""Two random ids of any sensible length differ over a longer stretch; counters and clocks do not."""


@check(
    "Session ids are visible ASCII and cannot be guessed", rows=("HTTP-36", "HTTP-37"), transports=HTTP_ONLY
)
def judge(trace: Trace) -> Iterator[Observation]:
    given = [(call, value) for call in trace.calls if (value := minted(call)) is not None]
    for call, value in given:
        odd = sorted({letter for letter in value if ord(letter) not in VISIBLE})
        yield observe(
            "HTTP-37",
            bool(value) and not odd,
            call,
            expected="one or more characters between 0x21 and 0x7E",
            observed=f"{value!r}",
        )
    for (one, first), (other, second) in pairwise(given):
        stretch = differing(first, second)
        yield observe(
            "HTTP-36",
            stretch >= GUESSABLE,
            one,
            other,
            expected="ids of two sessions that have nothing to do with each other",
            observed=f"{first!r} and {second!r}, which differ over {stretch} characters",
        )


def minted(call: Call) -> str | None:
    opens = any(message.method == "initialize" for message in call.asked)
    return call.head.get("mcp-session-id") if opens and call.head is not None else None


def differing(one: str, other: str) -> int:
    """The length of what remains when the common beginning and end are taken away."""
    if one == other:
        return 0
    length = min(len(one), len(other))
    begin = next((at for at in range(length) if one[at] != other[at]), length)
    end = next((at for at in range(length - begin) if one[-1 - at] != other[-1 - at]), length - begin)
    return max(len(one), len(other)) - begin - end
