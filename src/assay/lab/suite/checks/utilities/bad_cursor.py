"""A cursor that nobody gave out is refused."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Probe, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS


@check("A cursor that was never given out gets -32602", rows=("PAG-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    # One observation for all lists: they share their pagination, and so its fault.
    tried = [one for one in trace.probes("bad cursor") if one.answers and _is_listed(one, trace)]
    taken = [one for one in tried if one.answers[0].code != INVALID_PARAMS]
    if tried:
        yield observe(
            "PAG-03",
            not taken,
            *taken[:1] or tried,
            expected=f"error {INVALID_PARAMS}",
            observed="; ".join(f"{one.info.get('method')}: {one.answers[0]}" for one in taken),
        )


def _is_listed(probe: Probe, trace: Trace) -> bool:
    """The control: without a cursor the list is there."""
    method = probe.info.get("method")
    return isinstance(method, str) and any(
        one.result is not None and "cursor" not in one.params for one in trace.exchanges(method)
    )
