"""A tool's prompt reaches the client's model, and the model's words reach the tool's result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.asked import asking_calls
from assay.lab.everything.content import blocks_problem, call_problem, text_problem
from assay.lab.everything.declaring import official_check
from assay.lab.harness.driver.question import SAMPLE, Round
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "tools-call-sampling"


@official_check(ROW, "A tool asks the client's model", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange, rounds in asking_calls(trace, "test_sampling", SAMPLE):
        problem = _problem(exchange, rounds)
        expected = f"{SAMPLE} with the prompt that was given, and a result with what the model said"
        yield observe(ROW, problem is None, exchange, *rounds, expected=expected, observed=problem)


def _problem(exchange: Exchange, rounds: list[Round]) -> str | None:
    if not rounds:
        return f"no {SAMPLE}, and {exchange}"
    asked, said = rounds[0].question.params.get("messages"), _said(rounds[0].answer)
    prompt = _object(exchange.params.get("arguments")).get("prompt")
    if str(prompt) not in str(asked):
        return f"asked with {asked!r}"
    blocks = exchange.objects("content")
    problem = call_problem(exchange) or blocks_problem(blocks, {"text": text_problem})
    return problem or (None if said in str(blocks) else f"{blocks!r}, without {said!r}")


def _said(answer: dict[str, Any]) -> str:
    return str(_object(answer.get("content")).get("text"))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
