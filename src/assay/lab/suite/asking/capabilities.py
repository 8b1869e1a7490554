"""Servers ask a client only for what it declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_request,
    scenario,
)
from assay.lab.harness.driver.question import (
    ELICIT,
    MAY_ASK_DURING,
    ROOTS,
    SAMPLE,
    Question,
    declare_for,
    questions,
)
from assay.lab.harness.need import A_CALLABLE_TOOL, A_PROMPT, either

from .question import FORMS_AND_TEXT, edited_questions, safe_requests

# --- what is asked


@scenario(
    "Use tools and prompts as a client that declares few or no capabilities",
    exercises=("asking.declared-only",),
    needs=(either(A_CALLABLE_TOOL, A_PROMPT),),
)
async def drive_undeclared(stage: Stage) -> None:
    for capabilities in ({}, FORMS_AND_TEXT):
        peer = await stage.open(**capabilities)
        for send in safe_requests(peer, stage.facts):
            await send()


# --- how it is judged


@check(
    "Clients are asked only for what they declared",
    requirements=("EL-03", "SMP-03", "RT-08"),
    everywhere=True,
)
def judge_declared_only(trace: Trace) -> Iterator[Observation]:
    received = list(questions(trace, *_RULES))
    for question in received:
        requirement, allowed, expected = _RULES[question.method]
        observed = f"{_summary(question)}; the client declared {_names(question.capabilities)}"
        yield observe(requirement, allowed(question), question, expected=expected, observed=observed)
    calls = [exchange for exchange in trace.exchanges(*MAY_ASK_DURING) if exchange.answer is not None]
    for method in _RULES.keys() - {question.method for question in received} if calls else ():
        yield observe(_RULES[method][0], True, calls[-1], expected="no question", observed="none")


def _mode_declared(question: Question) -> bool:
    declared = question.declared("elicitation")
    # An empty object means forms, as in the revision that had no other mode.
    return declared is not None and question.mode in (list(declared) or ["form"])


def _tools_declared(question: Question) -> bool:
    if not {"tools", "toolChoice"} & question.params.keys():
        return True
    return (question.declared("sampling") or {}).get("tools") is not None


def _roots_declared(question: Question) -> bool:
    return question.declared("roots") is not None


def _summary(question: Question) -> str:
    if question.method == ELICIT:
        return f"elicitation in mode {question.mode!r}"
    return f"{question.method} with {', '.join(question.params) or 'no parameters'}"


def _names(capabilities: dict[str, Any]) -> str:
    inside = [
        f"{key}.{sub}" for key, value in capabilities.items() if isinstance(value, dict) for sub in value
    ]
    return ", ".join([*capabilities, *inside]) or "nothing"


_RULES: Final[dict[str, tuple[str, Callable[[Question], bool], str]]] = {
    ELICIT: ("EL-03", _mode_declared, "only modes of elicitation that the client declared"),
    SAMPLE: ("SMP-03", _tools_declared, "no tools in a sampling request without `sampling.tools`"),
    ROOTS: ("RT-08", _roots_declared, "no `roots/list` to a client without `roots`"),
}


# --- what the checks must catch


@on_request("sends URL elicitations to every client", breaks="EL-03")
def pages_for_anybody(message: Json, context: FaultContext) -> Json:
    declare_for(message, {"elicitation": {"form": {}, "url": {}}})
    return message


@on_request("requests roots from every client", breaks="RT-08")
def roots_of_anybody(message: Json, context: FaultContext) -> Json:
    declare_for(message, {"roots": {}})
    return message


LOOK_UP: Final = {"name": "look_up", "inputSchema": {"type": "object"}}
QUESTION_EDITS: Final = edited_questions(
    SAMPLE,
    ("asking.model-gets-tools", "offers tools in every sampling request", "SMP-03", "tools", [LOOK_UP]),
    scenario="asking.undeclared",
)
