"""A client is asked only in the ways that it declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ASKED_DURING, ELICIT, ROOTS, SAMPLE, Question, questions
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Clients are asked only as they declared", rows=("EL-03", "SMP-03", "RT-08"))
def judge(trace: Trace) -> Iterator[Observation]:
    asked = list(questions(trace, *_RULES))
    for question in asked:
        row, allowed, expected = _RULES[question.method]
        yield observe(
            row,
            allowed(question),
            question,
            expected=expected,
            observed=f"{_told(question)}, of a client that declared {_names(question.capabilities)}",
        )
    calls = [one for one in trace.exchanges(*ASKED_DURING) if one.answer is not None]
    for method in _RULES.keys() - {question.method for question in asked} if calls else ():
        yield observe(_RULES[method][0], True, calls[-1], expected="no question", observed="none")


def _mode_declared(question: Question) -> bool:
    declared = question.declared("elicitation")
    # Nothing inside means forms: there was nothing else once.
    return declared is not None and question.mode in (list(declared) or ["form"])


def _tools_declared(question: Question) -> bool:
    if not {"tools", "toolChoice"} & question.params.keys():
        return True
    return (question.declared("sampling") or {}).get("tools") is not None


def _told(question: Question) -> str:
    if question.method == ELICIT:
        return f"elicitation in mode {question.mode!r}"
    return f"{question.method} with {', '.join(question.params) or 'nothing'}"


def _names(capabilities: dict[str, Any]) -> str:
    inside = [
        f"{key}.{sub}" for key, value in capabilities.items() if isinstance(value, dict) for sub in value
    ]
    return ", ".join([*capabilities, *inside]) or "nothing"


_RULES: Final[dict[str, tuple[str, Callable[[Question], bool], str]]] = {
    ELICIT: ("EL-03", _mode_declared, "only modes of elicitation that the client declared"),
    SAMPLE: ("SMP-03", _tools_declared, "no tools for a model without `sampling.tools`"),
    ROOTS: ("RT-08", lambda one: one.declared("roots") is not None, "no question for roots without `roots`"),
}
