"""Credentials that a client was given, not registered for, are the ones that it uses."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.credentials import client_of
from assay.lab.client.journey import Journey, Stop
from assay.lab.client.machine import read_jwt
from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-42"


@check("A client can be given its credentials", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    given = journey.context.get("client_id")
    if not given:
        return
    for stop in (*journey.authorizations, *journey.exchanges):
        name = _name(stop)
        expected = f"the client id that the client was given: {given}"
        yield observe(ROW, name == given, stop, expected=expected, observed=f"client id {name!r}")


def _name(stop: Stop) -> str:
    """A client that signs need not say who it is besides."""
    return client_of(stop) or str(read_jwt(stop.said.get("client_assertion")).claims.get("sub", ""))
