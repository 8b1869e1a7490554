"""The client authenticates as the token endpoint wants it, and names the resource."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.token_endpoint import BASIC, ROWS, authenticated
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check("auth/token-endpoint-auth-basic", "The method of the token endpoint is used", rows=ROWS)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from authenticated(trace, BASIC)
