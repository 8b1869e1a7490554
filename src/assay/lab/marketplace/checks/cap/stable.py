"""A resource stays what it is, unless the server tells of a change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.cap_reading import Content, reads_by_uri
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-CAP-03.resources.stable"


@profile_check("Resources do not change silently", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for uri, found in reads_by_uri(trace).items():
        pairs = list(pairwise(found))
        if pairs and not _was_announced(trace, uri) and not _was_dated(trace, uri):
            # What somebody else changes meanwhile differs once; what is never the same, differs every time.
            steady = any(_bytes(one) == _bytes(other) for one, other in pairs)
            yield observe(
                ROW,
                steady,
                *found,
                expected="the same bytes at the next read, or an announced change, or another lastModified",
                observed=f"{len(found)} reads of {uri} in a row, no two of them alike",
            )


def _bytes(exchange: Exchange) -> list[Any]:
    return [Content(exchange, fields).exact for fields in exchange.objects("contents")]


def _was_announced(trace: Trace, uri: str) -> bool:
    return any(one.method == UPDATED and one.params.get("uri") == uri for one in trace.received)


def _was_dated(trace: Trace, uri: str) -> bool:
    """Whether its `lastModified` differs between two lists."""
    listed = [one for page in trace.exchanges("resources/list") for one in page.objects("resources")]
    about = [one.get("annotations") for one in listed if one.get("uri") == uri]
    dates = [one.get("lastModified") for one in about if isinstance(one, dict)]
    return len({repr(date) for date in dates}) > 1
