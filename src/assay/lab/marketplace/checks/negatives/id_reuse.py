"""A second request under the same id does not take the answer from the first."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Probe, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_lists import LISTS

REUSE = "CONF-JRPC-03.id-reuse"
KEYS = {one.method: one.key for one in LISTS}


@profile_check("An id that is in use disturbs nothing", rows=(REUSE,))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("reused"):
        first = next(iter(probe.sent), None)
        key = None if first is None else KEYS.get(first.method)
        if first is not None and key is not None:
            answers = _answers(probe, first, trace)
            own = [one for one in answers if key in one.result]
            expected = (
                f"one result with {key} for the first request, {first.method}; at most one answer to each"
            )
            observed = " and ".join(map(str, probe.answers)) or "no answer"
            undisturbed = len(own) == 1 and len(probe.answers) <= len(probe.sent)
            yield observe(REUSE, undisturbed, probe, expected=expected, observed=observed)


def _answers(probe: Probe, first: Message, trace: Trace) -> list[Message]:
    """On HTTP, those on the response to the first; elsewhere nothing but their content tells them apart."""
    apart = trace.transport == Transport.HTTP
    return [one for one in probe.answers if not apart or one.frame.channel == first.frame.channel]
