"""A notification is never answered, whether the server knows it or not."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import names_nothing
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

SILENT = "CONF-JRPC-02.notifications"


@profile_check("Notifications are not answered", rows=(SILENT,))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("notification"):
        answers = [one for one in probe.answers if not _is_refusal(trace, one)]
        expected = f"no response to the notification {probe.info.get('what')}"
        yield observe(SILENT, not answers, probe, expected=expected, observed=next(iter(answers), "none"))


def _is_refusal(trace: Trace, answer: Message) -> bool:
    """HTTP refuses what it cannot accept with a status, and may explain that in an error without an id."""
    nameless = answer.shape is Shape.ERROR and names_nothing(answer)
    return nameless and trace.status_of(answer) >= 400
