"""Codes are bound to a key (PKCE)."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import asked_for, challenge_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

USED, METHOD = "AU-82", "AU-84"


@check("PKCE is used, with S256", rows=(USED, METHOD), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        challenge, method = (stop.said.get(f"code_challenge{more}") for more in ("", "_method"))
        yield observe(USED, bool(challenge), stop, expected="a code_challenge", observed="none")
        if challenge:
            yield observe(METHOD, method == "S256", stop, expected="the method S256", observed=repr(method))
    for stop in journey.exchanges:
        asked = asked_for(journey, stop)
        if stop.said.get("grant_type") != "authorization_code" or asked is None:
            continue
        verifier = str(stop.said.get("code_verifier") or "")
        fits = bool(verifier) and challenge_of(verifier) == asked.said.get("code_challenge")
        plain = bool(verifier) and verifier == asked.said.get("code_challenge")  # that is METHOD's
        expected = "a code_verifier that fits the code_challenge"
        observed = "another verifier" if verifier else "no verifier"
        yield observe(USED, fits or plain, asked, stop, expected=expected, observed=observed)
