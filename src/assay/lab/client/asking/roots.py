"""Roots, and the notification when they change."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.altered_message import changed_answer
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import INITIALIZE, has_ended
from assay.lab.client.question import ROOTS, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool, step
from assay.lab.harness.scripted_server.client_run import SETTING
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking

from .asking_tool import THE_ROOTS, add_asking

# --- what is asked


ROOT = {"uri": "file:///home/ada/project", "name": "Project"}


@client_scenario(
    "Roots are told",
    brief=Brief(steps=(LIST_TOOLS, call_tool("asking")), capabilities=("roots",), answers={"roots": [ROOT]}),
    exercises=("asking.declared", "asking.roots"),
)
async def drive_roots(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", THE_ROOTS)


OTHER = {"uri": "file:///home/ada/other", "name": "Other"}


@client_scenario(
    "A change of roots is announced",
    brief=Brief(
        steps=(LIST_TOOLS, step("change_roots", roots=[OTHER]), call_tool("asking")),
        capabilities=("roots", "roots.listChanged"),
        answers={"roots": [ROOT]},
    ),
    exercises=("asking.roots-changed",),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_roots_changed(stage: ClientStage) -> None:
    stage.host.standalone = True
    add_asking(stage.host, "asking", THE_ROOTS)


# --- how it is judged


ROW = "RT-03"


@check("Roots are files", requirements=(ROW,), everywhere=True)
def judge_roots(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, ROOTS):
        roots = (one.result or {}).get("roots")
        for root in roots if isinstance(roots, list) else ():
            uri = root.get("uri") if isinstance(root, dict) else None
            holds = isinstance(uri, str) and uri.startswith("file://")
            yield observe(ROW, holds, one, expected="a URI that begins with file://", observed=f"{uri!r}")


ROOTS_CHANGED_ROW = "RT-02"
CHANGED = "notifications/roots/list_changed"


@check("A change of roots is announced", requirements=(ROOTS_CHANGED_ROW,))
def judge_roots_changed(trace: Trace) -> Iterator[Observation]:
    told = [one for one in trace.received if one.method == CHANGED]
    for exchange in trace.inquiries(INITIALIZE):
        capabilities = exchange.params.get("capabilities")
        roots = capabilities.get("roots") if isinstance(capabilities, dict) else None
        promised = isinstance(roots, dict) and roots.get("listChanged") is True
        if promised and _was_asked_to_change(trace) and (told or has_ended(trace)):
            yield observe(
                ROOTS_CHANGED_ROW, bool(told), exchange.request, *told, expected=CHANGED, observed="no word"
            )


def _was_asked_to_change(trace: Trace) -> bool:
    """Whether the steps of the scenario change the roots, and the client got past them."""
    steps = [step for mark in trace.marks(SETTING) for step in mark.info.get("context", {}).get("steps", ())]
    return any(step.get("do") == "change_roots" for step in steps) and any(trace.inquiries("tools/call"))


# --- what the checks must catch


@on_message("a root is an address on the web", breaks="RT-03", scenario="asking.roots")
def root_elsewhere(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(message, lambda said: {**said, "roots": [{"uri": "https://example.com/"}]})


@on_message("a change of roots is not announced", breaks="RT-02", scenario="asking.roots-changed")
def change_unannounced(message: Json, client: ScriptedClient) -> Json | None:
    return None if message.get("method") == "notifications/roots/list_changed" else message
