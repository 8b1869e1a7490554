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
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.driver.question import (
    ASKED_DURING,
    ELICIT,
    ROOTS,
    SAMPLE,
    Question,
    asked_in,
    declare_for,
    questions,
)
from assay.lab.harness.need import A_PROMPT, A_READ_ONLY_TOOL, either

from .question import FORMS_AND_TEXT, harmless

# --- what is asked


@scenario(
    "Clients that cannot be asked",
    exercises=("asking.declared-only",),
    needs=(either(A_READ_ONLY_TOOL, A_PROMPT),),
)
async def drive_undeclared(stage: Stage) -> None:
    for capabilities in ({}, FORMS_AND_TEXT):
        peer = await stage.open(**capabilities)
        for ask in harmless(peer, stage.facts):
            await ask()


# --- how it is judged


@check("Clients are asked only as they declared", requirements=("EL-03", "SMP-03", "RT-08"))
def judge_declared_only(trace: Trace) -> Iterator[Observation]:
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


# --- what the checks must catch


@on_request("every client is taken to open pages", breaks="EL-03")
def pages_for_anybody(message: Json, context: FaultContext) -> Json:
    declare_for(message, {"elicitation": {"form": {}, "url": {}}})
    return message


@on_request("every client is taken to have roots", breaks="RT-08")
def roots_of_anybody(message: Json, context: FaultContext) -> Json:
    declare_for(message, {"roots": {}})
    return message


@on_reply("sampling requests always offer tools", breaks="SMP-03", scenario="asking.undeclared")
def model_gets_tools(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        params["tools"] = [{"name": "look_up", "inputSchema": {"type": "object"}}]
    return reply
