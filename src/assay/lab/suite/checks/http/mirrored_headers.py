"""Headers that do not repeat the body are refused, and those that do in an unusual way are not."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import VERSION, Flaw, Mirror, is_mismatch, standard_mirrors
from assay.model.error import HEADER_MISMATCH
from assay.revisions.revision import Revision

ROWS = {Flaw.MISSING: "HTTP-57", Flaw.CHARACTERS: "HTTP-59", Flaw.DIFFERENT: "HTTP-58"}


@check(
    "Headers must repeat the body",
    rows=("HTTP-50", "HTTP-57", "HTTP-58", "HTTP-59", "HTTP-60", "HTTP-61", "XH-13"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        mirrors = standard_mirrors(call, trace.revision)
        flawed = [one for one in mirrors if one.flaw is not None]
        if not flawed:
            yield from _taken(call, mirrors)
        elif len(flawed) == 1 and (row := _row(flawed[0], trace.revision)):
            yield observe(
                row,
                is_mismatch(call),
                call,
                expected=f"status 400 with error {HEADER_MISMATCH}: {flawed[0].header} is {_what(flawed[0])}",
                observed=f"status {call.status}, error {call.code}",
            )


def _row(mirror: Mirror, revision: Revision) -> str | None:
    flaw = mirror.flaw
    if mirror.header == VERSION:
        # Without this version in it, the header may mean an older client, who is served by older rules.
        return "HTTP-50" if mirror.given == revision.date else None
    if flaw is Flaw.DIFFERENT and mirror.has_odd_markers:
        return "XH-13"
    return "HTTP-61" if mirror.differs_in_case else ROWS.get(flaw) if flaw else None


def _what(mirror: Mirror) -> str:
    return mirror.flaw.value if mirror.flaw is not None else "right"


def _taken(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    for mirror in mirrors:
        unusual = {"HTTP-60": mirror.is_encoded, "HTTP-61": mirror.spelled != mirror.header}
        for row in (row for row, is_so in unusual.items() if is_so):
            yield observe(
                row,
                call.code != HEADER_MISMATCH,
                call,
                expected=f"{mirror.spelled}: {mirror.given} is taken for {mirror.told}",
                observed=f"status {call.status}, error {call.code}",
            )
