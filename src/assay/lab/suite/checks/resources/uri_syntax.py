"""Resources are named by URIs; schemes that a server invents keep to their grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

# Defined elsewhere, so not custom: what follows them is not for this rule to judge.
STANDARD: Final = re.compile(r"(https?|file|git|ftp|data|urn|mailto):", re.IGNORECASE)
URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


@check("URIs with schemes of the server's own follow RFC 3986", rows=("RS-18",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/list"):
        for item in exchange.objects("resources"):
            uri = item.get("uri")
            if isinstance(uri, str):
                holds = STANDARD.match(uri) is not None or URI.fullmatch(uri) is not None
                yield observe(
                    "RS-18", holds, exchange, expected="scheme:rest by RFC 3986", observed=repr(uri[:120])
                )
