"""Results that ask for input: answered and retried until complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.altered_message import is_call, within, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_of, has_ended, observe_continued
from assay.lab.client.question import Round, rounds
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import same_id
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Asking

from .asking_tool import A_FORM, THE_ROOTS, add_asking

# --- what is asked


@client_scenario(
    "What belongs to one request is not used for another",
    brief=Brief(
        steps=(LIST_TOOLS, step("together", steps=[call_tool("left"), call_tool("right")])),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("asking.rounds",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive_rounds_at_once(stage: ClientStage) -> None:
    add_asking(stage.host, "left", A_FORM, state="of the left")
    add_asking(stage.host, "right", A_FORM, state="of the right")


ROOT = {"uri": "file:///home/ada/project", "name": "Project"}
STATE = '{"step": 1,  "note": "ü \u2028 =="} '


@client_scenario(
    "Questions are answered together, and the state comes back",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking"), call_tool("asking_again")),
        capabilities=("elicitation", "roots"),
        answers={"elicitation": "accept", "roots": [ROOT]},
    ),
    exercises=("asking.rounds",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive_several_rounds(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", A_FORM, THE_ROOTS, state=STATE)
    add_asking(stage.host, "asking_again", A_FORM)


@client_scenario(
    "A result of a kind that was not agreed on is no result",
    brief=Brief(steps=(LIST_TOOLS, call_tool("task"), call_tool(AFTER)), may_fail=True),
    exercises=("asking.result-types",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive_foreign_result_type(stage: ClientStage) -> None:
    async def odd(cycle: RequestCycle) -> Answer:
        return {"resultType": "task", "content": [{"type": "text", "text": "done"}]}

    stage.host.add_tool({"name": "task"}, odd)
    stage.host.add_tool({"name": AFTER})


@client_scenario(
    "A result of an unknown kind is no result",
    brief=Brief(steps=(LIST_TOOLS, call_tool("quantum"), call_tool(AFTER)), may_fail=True),
    exercises=("asking.result-types",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive_odd_result_type(stage: ClientStage) -> None:
    async def odd(cycle: RequestCycle) -> Answer:
        return {"resultType": "quantum", "content": [{"type": "text", "text": "done"}]}

    stage.host.add_tool({"name": "quantum"}, odd)
    stage.host.add_tool({"name": AFTER})


@client_scenario(
    "A result without a type, of a server of an earlier version, is complete",
    brief=Brief(steps=(LIST_TOOLS, call_tool("untyped"), call_tool(AFTER)), may_fail=True),
    exercises=("asking.result-types",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
    also=("contract.ends",),
)
async def drive_untyped_result(stage: ClientStage) -> None:
    # Only of such servers is it said: one of this version MUST name the type, and a client that refuses its
    # result is right.
    stage.host.revision = HANDSHAKE[-1]
    stage.host.streams = True
    stage.host.add_tool({"name": "untyped"})
    stage.host.add_tool({"name": AFTER})


# --- how it is judged


ALL, ECHOED, NO_STATE, NEW_ID, APART = "MR-13", "MR-15", "MR-17", "MR-18", "MR-19"
ROUNDS_STATE = "requestState"


@check(
    "A request is sent again as it should",
    requirements=(ALL, ECHOED, NO_STATE, NEW_ID, APART),
    everywhere=True,
)
def judge_rounds(trace: Trace) -> Iterator[Observation]:
    found = list(rounds(trace))
    states = [_state(one) for one in found]
    for one in found:
        if one.retry is not None:
            yield from _answered(one, states)


def _answered(one: Round, states: list[Any]) -> Iterator[Observation]:
    assert one.retry is not None
    missing = sorted(one.questions.keys() - one.answers.keys())
    yield observe(ALL, not missing, one, expected="an answer to each question", observed=f"none to {missing}")
    fresh = not same_id(one.first.request.id, one.retry.request.id)
    yield observe(NEW_ID, fresh, one, expected="another id", observed=f"id {one.retry.request.id!r} again")
    given, wanted = one.retry.params.get(ROUNDS_STATE), _state(one)
    if wanted is None:
        yield observe(NO_STATE, given is None, one, expected=f"no `{ROUNDS_STATE}`", observed=f"{given!r}")
    else:
        yield observe(
            ECHOED, given == wanted, one, expected=f"{ROUNDS_STATE} {wanted!r}", observed=f"{given!r}"
        )
    others = [state for state in states if state is not None and state != wanted]
    if others:
        mixed = given in others
        yield observe(APART, not mixed, one, expected="nothing of another request", observed=f"{given!r}")


def _state(one: Round) -> Any:
    return (one.first.result or {}).get(ROUNDS_STATE)


UNTYPED, UNKNOWN, FOREIGN = "BASE-18", "BASE-19", "BASE-20"
ODD = {"quantum": UNKNOWN, "task": FOREIGN}
"""Tools whose results are of that kind: the client should end with an error, and not go on."""


@check("Results are of the kinds that were agreed on", requirements=(UNTYPED, UNKNOWN, FOREIGN))
def judge_result_types(trace: Trace) -> Iterator[Observation]:
    yield from observe_continued(UNTYPED, trace, "untyped", "a result without `resultType` to be complete")
    for kind, row in ODD.items():
        answered = [one for one in calls_of(trace, kind) if one.answer is not None]
        later = calls_of(trace, AFTER)
        if answered and (later or has_ended(trace)):
            expected = f"an error of the client, which knows no results of the kind {kind!r}"
            seen = (answered[0], *later[:1])
            yield observe(
                row, not later, *seen, expected=expected, observed="the next step, as if all was well"
            )


# --- what the checks must catch


@on_message("one of two questions is not answered", breaks="MR-13", scenario="asking.several-rounds")
def answer_left_out(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params", "inputResponses"), lambda given: without(given, "question-2"))


@on_message("a state is sent where none was given", breaks="MR-17", scenario="asking.several-rounds")
def state_made_up(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "asking_again") or "inputResponses" not in message["params"]:
        return message
    return {**message, "params": {**message["params"], "requestState": "made up"}}


@on_message("a request is sent again under its old id", breaks="MR-18", scenario="asking.several-rounds")
def id_again(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "asking"):
        return message
    return {**message, "id": client.memory.setdefault("id", message["id"])}


@on_message("the state of one request goes with another", breaks="MR-19", scenario="asking.rounds-at-once")
def state_of_another(message: Json, client: ScriptedClient) -> Json:
    if "requestState" not in message.get("params", {}):
        return message
    return {**message, "params": {**message["params"], "requestState": "of the left"}}


@on_message("a result without a type ends the client", breaks="BASE-18", scenario="asking.untyped-result")
def untyped_ends_it(message: Json, client: ScriptedClient) -> Json:
    if is_call(message, "after"):
        raise Failed("the result before had no type")
    return message


BEHAVIOURS: Final = (
    behaviour(
        "asking.state-rewritten",
        "`requestState` is changed on its way back",
        breaks="MR-15",
        scenario="asking.several-rounds",
        echoes_state=False,
        transports=EVERY,
    ),
    behaviour(
        "asking.odd-kind-taken",
        "a result of an unknown kind is taken for one",
        breaks="BASE-19",
        scenario="asking.odd-result-type",
        knows_result_types=False,
        transports=EVERY,
    ),
    behaviour(
        "asking.foreign-kind-taken",
        "a result of an extension that was not declared is taken",
        breaks="BASE-20",
        scenario="asking.foreign-result-type",
        knows_result_types=False,
        transports=EVERY,
    ),
)
