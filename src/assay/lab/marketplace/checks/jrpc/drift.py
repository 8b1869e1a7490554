"""A list is the same when it is read again, unless its change was announced."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_lists import LISTS, Listed

DRIFT = "CONF-JRPC-02.drift"


@profile_check("Lists do not drift", rows=(DRIFT,))
def judge(trace: Trace) -> Iterator[Observation]:
    announced = {one.method for one in trace.received}
    for listed in LISTS:
        readings = [one for one in listings(trace, listed.method, listed.key) if one.complete]
        for before, after in pairwise(readings):
            changed = _changed(listed, before, after)
            # When it was announced is left open: the announcement may come on a stream of its own.
            if not changed or listed.announced not in announced:
                expected = f"the same answer to {listed.method}, or {listed.announced}"
                observed = ", ".join(changed) or "the same"
                yield observe(DRIFT, not changed, before, after, expected=expected, observed=observed)


def _changed(listed: Listed, before: Listing, after: Listing) -> list[str]:
    """What differs, in words; the order of items does not."""
    first, second = _definitions(listed, before), _definitions(listed, after)
    found = [f"{name} is gone" for name in first if name not in second]
    found += [f"{name} is new" for name in second if name not in first]
    return found + [f"{name} has changed" for name in first if second.get(name, first[name]) != first[name]]


def _definitions(listed: Listed, reading: Listing) -> dict[str, bytes]:
    return {
        f"{item.get(listed.name)}": _canonical({key: item.get(key) for key in listed.fixed})
        for item in reading.items
    }


def _canonical(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
