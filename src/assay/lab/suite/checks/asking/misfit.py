"""What a user fills in is held against the form before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ELICIT, Round, rounds_of
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe


@check("Answers that do not fit the form are not used", rows=("EL-15",))
def judge(trace: Trace) -> Iterator[Observation]:
    for one in rounds_of(trace, ELICIT):
        wrong = _wrong(one)
        if not wrong:
            continue
        refused = _is_refusal(one.outcome)
        used = [name for name, value in wrong.items() if str(value) in str(one.outcome.result)]
        # A result without these values may come from a server that went on without them.
        if refused or used:
            yield observe(
                "EL-15",
                refused,
                one,
                expected="an answer that does not fit the form to be refused",
                observed=f"a result that holds the wrong {', '.join(used)}",
            )


def _wrong(one: Round) -> dict[str, Any]:
    """The values that their fields refuse."""
    schema, content = one.question.params.get("requestedSchema"), one.answer.get("content")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(fields, dict) or not isinstance(content, dict):
        return {}
    return {name: value for name, value in content.items() if value_problem(value, fields.get(name, {}))}


def _is_refusal(outcome: Exchange) -> bool:
    result = outcome.result
    if result is None:
        return True
    return result.get("isError") is True or result.get("resultType") == "input_required"
