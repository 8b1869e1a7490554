"""Clients declare which requests they support, and reject the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.question import FORM, MODEL, ROOTS, questions
from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.model.error import INVALID_PARAMS
from assay.revisions.revision import Asking

from .asking_tool import DICE, a_prompt, add_asking_tool, behaves, call_asking_tool

# --- what is asked


@client_scenario(
    "Offer tools to a model without declared tool support",
    script=call_asking_tool("sampling", sampling={"text": "hello"}),
    exercises=("asking.refused",),
    window=lambda revision: revision.sampling_tools and revision.asking is Asking.BY_REQUEST,
)
async def drive_sampling_tools_undeclared(stage: ClientStage) -> None:
    add_asking_tool(stage.server, a_prompt(tools=[DICE]))


@client_scenario(
    "Ask for a URL although only forms are declared",
    script=call_asking_tool("elicitation", elicitation="decline"),
    exercises=("asking.refused",),
    window=lambda revision: "url" in revision.elicitation and revision.asking is Asking.BY_REQUEST,
)
async def drive_url_undeclared(stage: ClientStage) -> None:
    params = {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "one"}
    add_asking_tool(stage.server, (FORM, params))


# --- how it is judged


DECLARED: Final = {FORM: "EL-01", MODEL: "SMP-01", ROOTS: "RT-01"}


@check(
    "A client declares the requests that it answers",
    requirements={
        "EL-01": "An elicitation was answered, but elicitation is not declared",
        "SMP-01": "A sampling request was answered, but sampling is not declared",
        "RT-01": "Roots were listed, but roots are not declared",
        "SMP-02": "The model used tools, but `sampling.tools` is not declared",
    },
    everywhere=True,
)
def judge_declared(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace):
        if question.result is None:
            continue
        capability = question.capability
        holds = isinstance(capability, dict)
        expected, observed = f"a capability for {question.method}", f"declared {question.declared}"
        yield observe(DECLARED[question.method], holds, question, expected=expected, observed=observed)
        # A model that ignores the tools has not used them; that they were not rejected is SMP-04.
        if question.method == MODEL and question.tool_uses:
            holds = isinstance(capability, dict) and isinstance(capability.get("tools"), dict)
            yield observe("SMP-02", holds, question, expected="`sampling.tools`", observed=observed)


@check(
    "Modes and tools that are not declared are rejected",
    requirements={
        "EL-22": "An undeclared elicitation mode was not rejected with -32602",
        "SMP-04": "Tools were accepted, but `sampling.tools` is not declared",
    },
    everywhere=True,
)
def judge_refused(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, FORM, MODEL):
        if question.answer is None:
            continue
        declared = question.capability if isinstance(question.capability, dict) else {}
        failed = question.result is None
        observed = f"error {question.code}" if failed else f"a result: {question.result}"
        if question.method == FORM and question.params.get("mode") == "url" and "url" not in declared:
            holds = question.code == INVALID_PARAMS
            yield observe("EL-22", holds, question, expected=f"error {INVALID_PARAMS}", observed=observed)
        offered = "tools" in question.params or "toolChoice" in question.params
        if question.method == MODEL and offered and "tools" not in declared:
            yield observe("SMP-04", failed, question, expected="an error", observed=observed)


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaves("form-accepted", "forms-undeclared", "answers undeclared forms", "EL-01", declares={}),
    behaves("roots", "roots-undeclared", "lists undeclared roots", "RT-01", declares={}),
    behaves("sampling", "model-undeclared", "answers undeclared sampling requests", "SMP-01", declares={}),
    behaves(
        "sampling-tools",
        "model-tools-undeclared",
        "lets the model use tools, but does not declare `sampling.tools`",
        "SMP-02",
        declares={"sampling": {}},
    ),
    behaves("url-undeclared", "url-taken", "answers in an undeclared mode", "EL-22", checks_declared=False),
    behaves(
        "sampling-tools-undeclared", "tools-taken", "uses undeclared tools", "SMP-04", checks_declared=False
    ),
)
