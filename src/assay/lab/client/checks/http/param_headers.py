"""Arguments that a tool marks are repeated in headers, as the rules for values want."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls
from assay.lab.harness.check import check
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import ENCODED, Mirror, as_text, param_mirrors, tools_in

HERE, TEXT, UNSAFE, LOOKALIKE, MARKERS, ABSENT = "XH-01", "XH-10", "XH-11", "XH-12", "XH-13", "XH-14"


@check(
    "Marked arguments are repeated in headers",
    rows=(HERE, TEXT, UNSAFE, LOOKALIKE, MARKERS, ABSENT),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    tools = tools_in(trace.inquiries("tools/list"))
    for call in endpoint_calls(trace, "POST"):
        for _, mirror in param_mirrors(call, tools):
            yield from _judged(call, mirror)


def _judged(call: Call, mirror: Mirror) -> Iterator[Observation]:
    observed = f"{mirror.header}: {mirror.given}" if mirror.given is not None else f"no {mirror.header}"
    if mirror.told is None:
        expected = f"no {mirror.header} for an argument that is not there"
        yield observe(ABSENT, mirror.given is None, call, expected=expected, observed=observed)
        return
    expected = f"{mirror.header}: {as_header(as_text(mirror.told))}"
    yield observe(HERE, mirror.given is not None, call, expected=expected, observed=observed)
    if mirror.given is None:
        return
    if mirror.is_encoded or mirror.has_odd_markers:
        yield observe(MARKERS, mirror.is_encoded, call, expected=expected, observed=observed)
    yield observe(_row(mirror), _is_right(mirror), call, expected=expected, observed=observed)


def _row(mirror: Mirror) -> str:
    told = as_text(mirror.told)
    if ENCODED.fullmatch(told):
        return LOOKALIKE
    return TEXT if as_header(told) == told else UNSAFE


def _is_right(mirror: Mirror) -> bool:
    """What is safe may be encoded all the same; what is not must be."""
    told = as_text(mirror.told)
    return mirror.flaw is None and (mirror.is_encoded or as_header(told) == told)
