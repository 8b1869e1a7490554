"""Headers repeat what the body says: version, method, name."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import HANDSHAKING, endpoint_calls
from assay.lab.harness.check import check
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import METHOD, NAME, VERSION, Mirror, standard_mirrors

ROWS = {VERSION: "HTTP-49", METHOD: "HTTP-54", NAME: "HTTP-55"}


@check(
    "Headers repeat the body",
    rows=("HTTP-48", "HTTP-49", "HTTP-54", "HTTP-55", "HTTP-56"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in endpoint_calls(trace, "POST"):
        if any(one.method in HANDSHAKING for one in call.asked):
            continue
        named = call.sent.get(VERSION) is not None
        yield observe("HTTP-48", named, call, expected=VERSION, observed="no such header")
        for mirror in standard_mirrors(call, trace.revision):
            if mirror.given is not None or mirror.header != VERSION:
                yield from _judged(call, mirror)


def _judged(call: Call, mirror: Mirror) -> Iterator[Observation]:
    observed = f"{mirror.header}: {mirror.given}" if mirror.given is not None else f"no {mirror.header}"
    if mirror.header == NAME and as_header(mirror.told) != mirror.told and mirror.given is not None:
        right = mirror.is_encoded and mirror.flaw is None
        expected = f"{NAME}: {as_header(mirror.told)}"
        yield observe("HTTP-56", right, call, expected=expected, observed=observed)
    else:
        expected = f"{mirror.header}: {mirror.told}"
        yield observe(ROWS[mirror.header], mirror.flaw is None, call, expected=expected, observed=observed)
