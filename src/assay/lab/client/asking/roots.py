"""Roots, and the notification when they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import changed_answer
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import INITIALIZE, has_ended
from assay.lab.client.question import ROOTS, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_run import SETTING
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking

from .asking_tool import ROOT, THE_ROOTS, add_asking_tool, call_asking_tool

# --- what is asked


@client_scenario(
    "Ask for the roots",
    script=call_asking_tool("roots", roots=[ROOT]),
    exercises=("asking.declared", "asking.roots"),
)
async def drive_roots(stage: ClientStage) -> None:
    add_asking_tool(stage.server, THE_ROOTS)


OTHER: Final = {"uri": "file:///home/ada/other", "name": "Other"}


@client_scenario(
    "Change the roots of the client",
    script=ClientScript(
        steps=(LIST_TOOLS, step("change_roots", roots=[OTHER]), call_tool("asking")),
        capabilities=("roots", "roots.listChanged"),
        answers={"roots": [ROOT]},
    ),
    exercises=("asking.roots-changed",),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_roots_changed(stage: ClientStage) -> None:
    stage.server.standalone = True
    add_asking_tool(stage.server, THE_ROOTS)


# --- how it is judged


@check("Roots are file URIs", requirements={"RT-03": "A root is not a file:// URI"}, everywhere=True)
def judge_roots(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ROOTS):
        roots = (question.result or {}).get("roots")
        for root in roots if isinstance(roots, list) else ():
            uri = root.get("uri") if isinstance(root, dict) else None
            holds = isinstance(uri, str) and uri.startswith("file://")
            yield observe("RT-03", holds, question, expected="a URI with file://", observed=repr(uri))


CHANGED: Final = "notifications/roots/list_changed"


@check(
    "Changes of the roots are announced", requirements={"RT-02": "A change of the roots was not announced"}
)
def judge_roots_changed(trace: Trace) -> Iterator[Observation]:
    announced = [message for message in trace.received if message.method == CHANGED]
    for exchange in trace.subject_exchanges(INITIALIZE):
        capabilities = exchange.params.get("capabilities")
        roots = capabilities.get("roots") if isinstance(capabilities, dict) else None
        declared = isinstance(roots, dict) and roots.get("listChanged") is True
        if declared and _changed_roots(trace) and (announced or has_ended(trace)):
            evidence = (exchange.request, *announced)
            yield observe("RT-02", bool(announced), *evidence, expected=CHANGED, observed="no notification")


def _changed_roots(trace: Trace) -> bool:
    """Whether a step of the scenario changes the roots, and the client completed it."""
    steps = [step for mark in trace.marks(SETTING) for step in mark.info.get("context", {}).get("steps", ())]
    return any(step.get("do") == "change_roots" for step in steps) and any(
        trace.subject_exchanges("tools/call")
    )


# --- what the checks must catch


@on_message("lists a web page as a root", breaks="RT-03", scenario="asking.roots")
def root_elsewhere(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(message, lambda answer: {**answer, "roots": [{"uri": "https://example.com/"}]})


@on_message("does not announce a change of its roots", breaks="RT-02", scenario="asking.roots-changed")
def change_unannounced(message: Json, client: ScriptedClient) -> Json | None:
    return None if message.get("method") == CHANGED else message
