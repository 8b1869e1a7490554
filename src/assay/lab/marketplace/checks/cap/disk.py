"""What tools do on disk is what they say; those that only read, do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.cap_effect import Seen, Summarised, observed, summarised
from assay.lab.marketplace.cap_meta import EFFECTS
from assay.lab.marketplace.declaring import profile_check

TOLD: Final = "CONF-CAP-03.tools.disk"
READS: Final = "CONF-CAP-03.tools.read-only"


@profile_check("Tools do what they say", rows=(TOLD, READS))
def judge(trace: Trace) -> Iterator[Observation]:
    for seen in observed(trace):
        yield _left(seen) if seen.call.only_reads else _told(seen)
    for call in summarised(trace):
        if call.only_reads and call.summary is not None:
            yield _harmless(call)


def _told(seen: Seen) -> Observation:
    untold = seen.untold
    return observe(
        TOLD,
        not untold,
        seen,
        expected=f'for each changed file an effect in {EFFECTS}, its target {{"kind": "file", "id": PATH}}',
        observed=f"{seen.call.name} changed {', '.join(untold)} and does not say so",
    )


def _left(seen: Seen) -> Observation:
    return observe(
        READS,
        not seen.paths,
        seen,
        expected="nothing changes on disk: the tool has readOnlyHint",
        observed=f"{seen.call.name} changed {', '.join(seen.paths)}",
    )


def _harmless(call: Summarised) -> Observation:
    return observe(
        READS,
        not call.changes,
        call,
        expected=f"no effects in {EFFECTS}, or read-external alone: the tool has readOnlyHint",
        observed=f"{call.name} reports {call.changes!r}",
    )
