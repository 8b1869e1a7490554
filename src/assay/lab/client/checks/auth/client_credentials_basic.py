"""A client that acts for itself shows its id and its secret."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.machine import GRANT, GRANT_ROW, OWED, grant_types
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.client.authorization.token_endpoint import BASIC, credentials, method_of
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "client-credentials-basic-auth"
WANTED = "a token request with the id and the secret that the client was given, by Basic"


@official_check(
    "auth/client-credentials-basic", "A client that acts for itself", rows=(GRANT_ROW, ROW, *SHARED)
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    own = [*grant_types(journey), *_shown(journey)]
    yield from walked(trace, own, wanted={**OWED, ROW: WANTED})


def _shown(journey: Journey) -> Iterator[Observation]:
    given = tuple(journey.context.get(key) for key in ("client_id", "client_secret"))
    for stop in journey.exchanges:
        if stop.said.get("grant_type") == GRANT:
            used, shown = method_of(stop), credentials(stop)
            observed = f"{used}" if used != BASIC else "another id or secret"
            yield observe(ROW, used == BASIC and shown == given, stop, expected=WANTED, observed=observed)
