"""All pages of a list are for the same eyes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

LISTED: Final = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


@check("All pages of a list have one cache scope", rows=("CA-04",))
def judge(trace: Trace) -> Iterator[Observation]:
    for method, key in LISTED.items():
        for listing in listings(trace, method, key):
            scopes = [str((page.result or {}).get("cacheScope")) for page in listing.pages if page.result]
            if len(scopes) > 1:
                holds = len(set(scopes)) == 1
                yield observe("CA-04", holds, listing, expected="one scope", observed=", ".join(scopes))
