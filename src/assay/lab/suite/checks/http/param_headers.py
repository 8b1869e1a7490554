"""Headers of tool parameters are compared with the arguments of the call."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import Flaw, Mirror, is_mismatch, param_mirrors, standard_mirrors, tools_in
from assay.model.error import HEADER_MISMATCH

ROWS = {Flaw.MISSING: "XH-16", Flaw.CHARACTERS: "XH-17", Flaw.DIFFERENT: "XH-18"}


@check(
    "Headers of parameters must repeat the arguments",
    rows=("XH-15", "XH-16", "XH-17", "XH-18", "XH-19"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    tools = tools_in(trace.exchanges("tools/list"))
    for call in trace.calls:
        mirrors = [mirror for _, mirror in param_mirrors(call, tools)]
        if mirrors and not any(one.flaw for one in standard_mirrors(call, trace.revision)):
            yield from _judge_call(call, mirrors)


def _judge_call(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    told = [one for one in mirrors if one.told is not None]
    flawed = [one for one in told if one.flaw is not None and not same_number(one)]
    said = f"status {call.status}, error {call.code}"
    if len(flawed) == 1 and (flaw := flawed[0].flaw) is not None:
        expected = f"status 400 with error {HEADER_MISMATCH}: {flawed[0].header} is {flaw.value}"
        yield observe(ROWS[flaw], is_mismatch(call), call, expected=expected, observed=said)
    if flawed:
        return
    taken = call.code != HEADER_MISMATCH
    for mirror in mirrors:
        if mirror.told is None and mirror.given is None:
            expected = f"no {mirror.header} for an argument that is not there"
            yield observe("XH-15", taken, call, expected=expected, observed=said)
        elif same_number(mirror) and mirror.flaw is not None:
            expected = f"{mirror.given} is taken for {mirror.told}"
            yield observe("XH-19", taken, call, expected=expected, observed=said)


def same_number(mirror: Mirror) -> bool:
    """Whether header and argument are one integer, written in two ways."""
    if type(mirror.told) is not int or mirror.given is None:
        return False
    try:
        return float(mirror.given) == mirror.told
    except (ValueError, OverflowError):
        return False
