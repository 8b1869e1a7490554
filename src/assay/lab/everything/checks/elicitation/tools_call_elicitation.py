"""A tool asks the user what it was told to ask, and the user's answer makes a difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.asked import asking_calls
from assay.lab.everything.content import blocks_problem, text_problem
from assay.lab.everything.declaring import official_check
from assay.lab.harness.driver.question import ELICIT, Round
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "tools-call-elicitation"


@official_check(ROW, "A tool asks the user", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    outcomes: dict[str, Exchange] = {}
    for exchange, rounds in asking_calls(trace, "test_elicitation", ELICIT):
        problem = _problem(exchange, rounds)
        expected = f"{ELICIT} with the message that was given and a form, and a result with a text"
        yield observe(ROW, problem is None, exchange, *rounds, expected=expected, observed=problem)
        if problem is None:
            outcomes[str(rounds[0].answer.get("action"))] = exchange
    if {"accept", "decline"} <= outcomes.keys():
        one, other = outcomes["accept"], outcomes["decline"]
        differs = one.items("content") != other.items("content")
        expected = "a result that depends on whether the user accepts or declines"
        yield observe(ROW, differs, one, other, expected=expected, observed="the same content for both")


def _problem(exchange: Exchange, rounds: list[Round]) -> str | None:
    if not rounds:
        return f"no {ELICIT}, and {exchange}"
    asked, given = rounds[0].question.params, exchange.params.get("arguments")
    message = given.get("message") if isinstance(given, dict) else None
    if asked.get("message") != message:
        return f"asked with the message {asked.get('message')!r}"
    if not _is_form(asked.get("requestedSchema")):
        return f"asked with the form {asked.get('requestedSchema')!r}"
    if exchange.result is None:
        return str(exchange)
    return blocks_problem(exchange.objects("content"), {"text": text_problem})


def _is_form(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("properties"), dict)
