"""A server asks only for what its client declared, and announces only what it declared itself."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, questions
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ASKED = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
ANNOUNCED = {
    "notifications/message": ("logging",),
    "notifications/tools/list_changed": ("tools", "listChanged"),
    "notifications/prompts/list_changed": ("prompts", "listChanged"),
    "notifications/resources/list_changed": ("resources", "listChanged"),
    "notifications/resources/updated": ("resources", "subscribe"),
}


@check("Only negotiated capabilities are used", rows=("LIFE-14",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, *ASKED):
        capability = ASKED[question.method]
        yield observe(
            "LIFE-14",
            question.declared(capability) is not None,
            question,
            expected=f"no {question.method} to a client that did not declare `{capability}`",
            observed=question.message,
        )
    declared = declaration(trace)
    for message in trace.received:
        path = ANNOUNCED.get(message.method)
        if path is not None and declared is not None:
            yield observe(
                "LIFE-14",
                declared.has(*path),
                message,
                declared,
                expected=f"no {message.method} from a server that did not declare `{'.'.join(path)}`",
                observed=message,
            )
