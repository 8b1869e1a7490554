"""Whoever shows no token is asked for one, whatever else they show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.admission import told
from assay.lab.harness.trace.challenge import HEADER, METADATA, bearer_challenge
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.sec_admission import UNAUTHORIZED, without_token

ROW: Final = "CONF-SEC-04.no-token"
NOT_ALLOWED: Final = 405


@profile_check("Without a token nobody is let in", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in without_token(trace):
        if call.sent.method != "POST" and call.status == NOT_ALLOWED:
            continue  # nobody is served in that way
        seen = f"{told(call)}, {_challenge(call)}"
        right = call.status == UNAUTHORIZED and _names_metadata(call)
        wanted = f"status {UNAUTHORIZED} and WWW-Authenticate: Bearer with the URL as {METADATA}"
        yield observe(ROW, right, call, expected=wanted, observed=seen)


def _challenge(call: Call) -> str:
    return ", ".join([] if call.head is None else call.head.all(HEADER)) or "no challenge"


def _names_metadata(call: Call) -> bool:
    challenge = bearer_challenge(call.head)
    place = "" if challenge is None else challenge.params.get(METADATA, "")
    return place.startswith(("https://", "http://"))
