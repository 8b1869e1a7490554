"""HTTP responses that are errors, or lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.lab.client.evidence import calls_of, is_over
from assay.lab.client.fixtures.hostility import undeterred
from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

UNDETERRED, BOUNDED = "HOSTILE-06", "HOSTILE-07"
MOST: Final = 20
"""Times that one failing request may be made: who makes it more often has no bound."""
SHORT: Final = "cut_short"
_PAGE: Final = b"<html><body>Bad gateway</body></html>"


def _type(value: str) -> list[tuple[str, str]]:
    return [("Content-Type", value)]


KINDS: Final[Mapping[str, tuple[int, list[tuple[str, str]], bytes]]] = {
    "error_500": (500, _type("text/plain"), b"out of order"),
    "error_502": (502, _type("text/html"), _PAGE),
    "error_503": (503, [("Retry-After", "0")], b""),
    "error_429": (429, [("Retry-After", "0")], b""),
    "page": (200, _type("text/html"), _PAGE),
    "untyped": (200, [], b"ANSWER"),
    "empty": (200, _type(JSON), b""),
    "accepted": (202, [], b""),
    "events_as_json": (200, _type(JSON), b"data: ANSWER\n\n"),
    "json_as_events": (200, _type(EVENT_STREAM), b"ANSWER"),
    SHORT: (200, _type(EVENT_STREAM), b"data: ANSW"),
}
"""What a call of that name gets: a status, headers, and a body in which the right answer may be."""


@check("A bad response is bad for its request only", rows=(UNDETERRED, BOUNDED), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from undeterred(UNDETERRED, trace, KINDS, "the client to go on, whatever became of that call")
    for kind in KINDS:
        made = calls_of(trace, kind)
        if made and (is_over(trace) or len(made) > MOST):
            expected, observed = f"at most {MOST} tries", f"{len(made)} calls of {kind!r}"
            yield observe(BOUNDED, len(made) <= MOST, *made[-2:], expected=expected, observed=observed)
