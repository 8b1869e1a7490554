"""Whoever may come in, but not do this, is refused and told why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.subject.bearer import WEAK
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.challenge import HEADER, bearer_challenge
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.sec_scopes import missing

ROW: Final = "CONF-SEC-04.scope"
ERROR: Final = "insufficient_scope"
EXPECTED: Final = f'status 403 and WWW-Authenticate: Bearer error="{ERROR}"'


@profile_check("Too small a scope gets 403", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    shown = [call for _, call in calls_with(trace, WEAK)]
    refused = [call for call in shown if call.status in (401, 403)]
    for call in refused:
        yield observe(ROW, _is_told(call), call, expected=EXPECTED, observed=f"{told(call)}, {_said(call)}")
    lacking = missing(trace)
    served = [call for call in shown if is_let_in(call)]
    # Some of what a server does may be for everybody; with nothing refused, it does not ask for the scope.
    if lacking and served and not refused:
        seen = f"{len(served)} requests served without {' '.join(lacking)}, and none refused"
        yield observe(ROW, False, *served, expected=EXPECTED, observed=seen)


def _is_told(call: Call) -> bool:
    challenge = bearer_challenge(call.head)
    return call.status == 403 and challenge is not None and challenge.params.get("error") == ERROR


def _said(call: Call) -> str:
    return ", ".join([] if call.head is None else call.head.all(HEADER)) or "no challenge"
