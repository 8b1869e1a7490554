"""Forms and addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.evidence import FIRST, is_over
from assay.lab.client.questions import FORM, questions
from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

SOME, UNSAID = "EL-02", "EL-05"
ACTIONS = ("accept", "decline", "cancel")


@check("A client that has elicitation has a mode of it", rows=(SOME, UNSAID), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        declared = _declared(message)
        if isinstance(declared, dict) and "elicitation" in declared:
            said = declared["elicitation"]
            modes = said if isinstance(said, dict) else {"?": None}
            holds = not modes or any(isinstance(modes.get(mode), dict) for mode in ("form", "url"))
            yield observe(SOME, holds, message, expected="`form`, `url`, or nothing", observed=f"{said}")
    for one in questions(trace, FORM):
        silent = one.answered is None and not is_over(trace)
        if "mode" not in one.params and not silent and _has_forms(one.capability):
            action = (one.result or {}).get("action")
            holds = action in ACTIONS
            instead = f"error {one.code}" if one.code else "no answer"
            observed = f"action {action!r}" if one.result else instead
            yield observe(UNSAID, holds, one, expected="an answer to a form", observed=observed)


def _declared(message: Message) -> Any:
    if message.method == FIRST:
        return message.params.get("capabilities")
    meta = message.params.get("_meta")
    return meta.get(CAPABILITIES_KEY) if isinstance(meta, dict) else None


def _has_forms(capability: Any) -> bool:
    return isinstance(capability, dict) and (not capability or "form" in capability)
