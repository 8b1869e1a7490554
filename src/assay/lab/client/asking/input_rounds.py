"""Results that ask for input: the client answers and retries until the result is complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.altered_message import is_call, with_params, within, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_of, has_ended, observe_continued
from assay.lab.client.question import Round, rounds
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import same_id
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Asking, Revision

from .asking_tool import A_FORM, ROOT, THE_ROOTS, add_asking_tool, behaves


def by_retry(revision: Revision) -> bool:
    return revision.asking is Asking.BY_RETRY


# --- what is asked


@client_scenario(
    "Ask for input in two calls at the same time",
    script=ClientScript(
        steps=(LIST_TOOLS, step("together", steps=[call_tool("left"), call_tool("right")])),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("asking.rounds",),
    window=by_retry,
)
async def drive_rounds_at_once(stage: ClientStage) -> None:
    add_asking_tool(stage.server, A_FORM, name="left", state="of the left")
    add_asking_tool(stage.server, A_FORM, name="right", state="of the right")


STATE: Final = '{"step": 1,  "note": "ü \u2028 =="} '
"""A client that parses and serializes the state again changes it."""


@client_scenario(
    "Ask two questions with a state, then one without",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("asking"), call_tool("asking_again")),
        capabilities=("elicitation", "roots"),
        answers={"elicitation": "accept", "roots": [ROOT]},
    ),
    exercises=("asking.rounds",),
    window=by_retry,
)
async def drive_several_rounds(stage: ClientStage) -> None:
    add_asking_tool(stage.server, A_FORM, THE_ROOTS, state=STATE)
    add_asking_tool(stage.server, A_FORM, name="asking_again")


def _returns_type(name: str, title: str, kind: str) -> Scenario:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"resultType": kind, "content": [{"type": "text", "text": "done"}]}

    async def drive(stage: ClientStage) -> None:
        stage.server.add_tool({"name": kind}, answer)
        stage.server.add_tool({"name": AFTER})

    script = ClientScript(steps=(LIST_TOOLS, call_tool(kind), call_tool(AFTER)), may_fail=True)
    return client_scenario(
        title, id=f"asking.{name}", script=script, exercises=("asking.result-types",), window=by_retry
    )(drive)


RESULT_TYPES: Final = (
    _returns_type(
        "foreign-result-type", "Return a result type of an extension that was not negotiated", "task"
    ),
    _returns_type("odd-result-type", "Return an unknown result type", "quantum"),
)


@client_scenario(
    "Return a result without a type from a server of an earlier revision",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("untyped"), call_tool(AFTER)), may_fail=True),
    exercises=("asking.result-types",),
    window=by_retry,
    also=("contract.ends",),
)
async def drive_untyped_result(stage: ClientStage) -> None:
    # Only servers of earlier revisions may omit the type: a client may reject such a result of any other.
    stage.server.revision = HANDSHAKE[-1]
    stage.server.streams = True
    stage.server.add_tool({"name": "untyped"})
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


@check(
    "A retry answers all questions, returns the state and has a new id",
    requirements={
        "MR-13": "A retry does not answer every question",
        "MR-15": "A retry does not return the state unchanged",
        "MR-17": "A retry has a state, but the server sent none",
        "MR-18": "A retry has the id of the first request",
        "MR-19": "A retry has the state of another request",
    },
    everywhere=True,
)
def judge_rounds(trace: Trace) -> Iterator[Observation]:
    every = list(rounds(trace))
    states = [_state(round_) for round_ in every]
    for round_ in every:
        if round_.retry is not None:
            yield from _judge_round(round_, states)


def _judge_round(round_: Round, states: list[Any]) -> Iterator[Observation]:
    assert round_.retry is not None
    missing = sorted(round_.questions.keys() - round_.answers.keys())
    expected, observed = "an answer to each question", f"none to {missing}"
    yield observe("MR-13", not missing, round_, expected=expected, observed=observed)
    retry_id = round_.retry.request.id
    fresh = not same_id(round_.first.request.id, retry_id)
    yield observe("MR-18", fresh, round_, expected="a new id", observed=f"id {retry_id!r} again")
    sent, returned = _state(round_), round_.retry.params.get("requestState")
    if sent is None:
        expected = "no `requestState`"
        yield observe("MR-17", returned is None, round_, expected=expected, observed=repr(returned))
    else:
        expected = f"requestState {sent!r}"
        yield observe("MR-15", returned == sent, round_, expected=expected, observed=repr(returned))
    others = [state for state in states if state is not None and state != sent]
    if others:
        expected = "no state of another request"
        yield observe("MR-19", returned not in others, round_, expected=expected, observed=repr(returned))


def _state(round_: Round) -> Any:
    return (round_.first.result or {}).get("requestState")


UNACCEPTABLE: Final = {"quantum": "BASE-19", "task": "BASE-20"}


@check(
    "Only known result types are accepted",
    requirements={
        "BASE-18": "A result without `resultType` was not treated as complete",
        "BASE-19": "A result of an unknown type was accepted",
        "BASE-20": "A result type of an undeclared extension was accepted",
    },
)
def judge_result_types(trace: Trace) -> Iterator[Observation]:
    expected = "a result without `resultType` treated as complete"
    yield from observe_continued("BASE-18", trace, "untyped", expected)
    for kind, requirement in UNACCEPTABLE.items():
        answered = [call for call in calls_of(trace, kind) if call.answer is not None]
        later = calls_of(trace, AFTER)
        if answered and (later or has_ended(trace)):
            yield observe(
                requirement,
                not later,
                answered[0],
                *later[:1],
                expected=f"the client to fail, since it knows no result type {kind!r}",
                observed="the client continued with the next step",
            )


# --- what the checks must catch


@on_message("leaves one of two questions unanswered", breaks="MR-13", scenario="asking.several-rounds")
def answer_left_out(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params", "inputResponses"), lambda answers: without(answers, "question-2"))


@on_message("sends a state although it received none", breaks="MR-17", scenario="asking.several-rounds")
def state_made_up(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "asking_again") or "inputResponses" not in message["params"]:
        return message
    return with_params(message, requestState="made up")


@on_message("retries under the id of the first request", breaks="MR-18", scenario="asking.several-rounds")
def id_again(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "asking"):
        return message
    return {**message, "id": client.memory.setdefault("id", message["id"])}


@on_message("sends the state of one request with another", breaks="MR-19", scenario="asking.rounds-at-once")
def state_of_another(message: Json, client: ScriptedClient) -> Json:
    stateful = "requestState" in message.get("params", {})
    return with_params(message, requestState="of the left") if stateful else message


@on_message("fails at a result without a type", breaks="BASE-18", scenario="asking.untyped-result")
def untyped_ends_it(message: Json, client: ScriptedClient) -> Json:
    if is_call(message, AFTER):
        raise StepFailed("the previous result had no type")
    return message


BEHAVIOURS: Final = (
    behaves("several-rounds", "state-rewritten", "changes `requestState`", "MR-15", echoes_state=False),
    behaves(
        "odd-result-type", "odd-kind-taken", "accepts any result type", "BASE-19", knows_result_types=False
    ),
    behaves(
        "foreign-result-type",
        "foreign-kind-taken",
        "accepts a result type of an undeclared extension",
        "BASE-20",
        knows_result_types=False,
    ),
)
