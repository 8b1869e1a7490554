"""Metadata of an authorization server is held against the issuer that it was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.foreign_metadata import used
from assay.lab.client.authorization.journey import Journey
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "AU-26"


@check("Metadata of another issuer is not used", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from used(Journey(trace), ROW)
