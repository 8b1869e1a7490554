"""Clients declare what they can be asked for, and refuse the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.question import FORM, MODEL, ROOTS, questions
from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.model.error import INVALID_PARAMS
from assay.revisions.revision import Asking

from .asking_tool import a_prompt, add_asking

# --- what is asked


@client_scenario(
    "Tools for a model that cannot use them are refused",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.refused",),
    window=lambda revision: revision.sampling_tools and revision.asking is Asking.BY_REQUEST,
)
async def drive_sampling_tools_undeclared(stage: ClientStage) -> None:
    tools = [{"name": "dice", "description": "Throw a die", "inputSchema": {"type": "object"}}]
    add_asking(stage.host, "asking", a_prompt(tools=tools))


@client_scenario(
    "A mode that was not declared is refused",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("elicitation",),
        answers={"elicitation": "decline"},
    ),
    exercises=("asking.refused",),
    window=lambda revision: "url" in revision.elicitation and revision.asking is Asking.BY_REQUEST,
)
async def drive_url_undeclared(stage: ClientStage) -> None:
    about = {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "one"}
    add_asking(stage.host, "asking", (FORM, about))


# --- how it is judged


ROWS = {FORM: "EL-01", MODEL: "SMP-01", ROOTS: "RT-01"}
TOOLS = "SMP-02"


@check("A client declares what it answers", requirements=(*ROWS.values(), TOOLS), everywhere=True)
def judge_declared(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace):
        if one.result is None:
            continue
        declared = one.capability
        expected, observed = f"a capability for {one.method}", f"declared {one.declared}"
        holds = isinstance(declared, dict)
        yield observe(ROWS[one.method], holds, one, expected=expected, observed=observed)
        # Who leaves the tools alone has not taken them: that it did not refuse is another rule's.
        if one.method == MODEL and one.tool_uses:
            holds = isinstance(declared, dict) and isinstance(declared.get("tools"), dict)
            yield observe(TOOLS, holds, one, expected="`sampling.tools`", observed=observed)


MODE, REFUSED_TOOLS = "EL-22", "SMP-04"


@check("What a client did not declare, it refuses", requirements=(MODE, REFUSED_TOOLS), everywhere=True)
def judge_refused(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, FORM, MODEL):
        said = one.capability if isinstance(one.capability, dict) else {}
        observed = f"error {one.code}" if one.result is None else f"a result: {one.result}"
        if one.answer is None:
            continue
        if one.method == FORM and one.params.get("mode") == "url" and "url" not in said:
            holds = one.code == INVALID_PARAMS
            yield observe(MODE, holds, one, expected=f"error {INVALID_PARAMS}", observed=observed)
        offered = "tools" in one.params or "toolChoice" in one.params
        if one.method == MODEL and offered and "tools" not in said:
            yield observe(REFUSED_TOOLS, one.result is None, one, expected="an error", observed=observed)


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaviour(
        "asking.forms-undeclared",
        "forms are filled in that were not declared",
        breaks="EL-01",
        scenario="asking.form-accepted",
        declares={},
        transports=EVERY,
    ),
    behaviour(
        "asking.roots-undeclared",
        "roots are told that were not declared",
        breaks="RT-01",
        scenario="asking.roots",
        declares={},
        transports=EVERY,
    ),
    behaviour(
        "asking.model-undeclared",
        "a model answers that was not declared",
        breaks="SMP-01",
        scenario="asking.sampling",
        declares={},
        transports=EVERY,
    ),
    behaviour(
        "asking.model-tools-undeclared",
        "a model is given tools, and was not said to take any",
        breaks="SMP-02",
        scenario="asking.sampling-tools",
        declares={"sampling": {}},
        transports=EVERY,
    ),
    behaviour(
        "asking.url-taken",
        "a mode that was not declared is taken",
        breaks="EL-22",
        scenario="asking.url-undeclared",
        checks_declared=False,
        transports=EVERY,
    ),
    behaviour(
        "asking.tools-taken",
        "tools for the model are taken that were not declared",
        breaks="SMP-04",
        scenario="asking.sampling-tools-undeclared",
        checks_declared=False,
        transports=EVERY,
    ),
)
