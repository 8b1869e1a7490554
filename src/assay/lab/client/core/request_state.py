"""Request state is echoed unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from secrets import token_hex
from typing import Final

from msgspec import Struct

from assay.lab.client.altered_message import is_call, within
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import calls_of, fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_hearing, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, Raw
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.server import Tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Exchange

ECHO: Final = "test_mrtr_echo_state"
NO_STATE: Final = "test_mrtr_no_state"
UNRELATED: Final = "test_mrtr_unrelated"
UNTYPED: Final = "test_mrtr_no_result_type"


# Unusual white space, escapes and numbers: who reads it and writes it anew changes it.
STATE: Final = '{"round" :1.0, "nonce":"%s",  "say":"\\u00e9\\/", "of":[ ]}'
GIVEN: Final = "inputResponses"
STATE_KEY: Final = "requestState"


class Round(Struct, frozen=True):
    """A question in a result, and the call that answered it."""

    question: Exchange
    retry: Exchange


def rounds(trace: Trace, tool: str) -> Iterator[Round]:
    """Each call with answers, beside the question whose state it brings back; else the last before it."""
    questions: list[Exchange] = []
    for one in calls_of(trace, tool):
        if GIVEN in one.params and questions:
            state = one.params.get(STATE_KEY)
            mine = (past for past in questions if (past.result or {}).get(STATE_KEY) == state)
            yield Round(next(mine, questions[-1]), one)
        elif (one.result or {}).get("resultType") == "input_required":
            questions.append(one)


# --- what is asked


FORM = {
    "message": "Please confirm to continue",
    "requestedSchema": {
        "type": "object",
        "properties": {"confirmed": {"type": "boolean", "description": "Confirm?"}},
    },
}
DONE = {"content": [{"type": "text", "text": "done"}]}


@official_scenario(
    "sep-2322-client-request-state",
    "Questions in results are answered by another call, with what belongs to it and nothing else",
    brief=Brief(
        # A client may hold a server of this revision to its own rules, and refuse the last result.
        steps=(LIST_TOOLS, call_tool(ECHO), call_tool(NO_STATE), tried(call_tool(UNTYPED))),
        capabilities=("elicitation",),
        answers={"elicitation": "accept", "before_answering": [call_tool(UNRELATED)]},
    ),
    transports=CLIENTS,
)
async def drive_sep_2322_client_request_state(stage: ClientStage) -> None:
    for name, tool in _TOOLS.items():
        definition = {"name": name, "inputSchema": {"type": "object", "properties": {}, "required": []}}
        stage.host.add_tool(definition, tool)


async def _echo(cycle: RequestCycle) -> Answer:
    await cycle.inquire({"confirm": ("elicitation/create", FORM)}, STATE % token_hex(8))
    return DONE


async def _no_state(cycle: RequestCycle) -> Answer:
    await cycle.inquire({"confirm": ("elicitation/create", FORM)})
    return DONE


async def _unrelated(cycle: RequestCycle) -> Answer:
    return DONE


async def _untyped(cycle: RequestCycle) -> Answer:
    """Without `resultType`, which then means that it is complete."""
    return Raw(encode({"jsonrpc": "2.0", "id": cycle.id, "result": DONE}))


_TOOLS: dict[str, Tool] = {ECHO: _echo, NO_STATE: _no_state, UNRELATED: _unrelated, UNTYPED: _untyped}


# --- how it is judged


ECHOED = "sep-2322-client-request-state-echoed"
NEW_ID = "sep-2322-client-jsonrpc-id-different"
OMITTED = "sep-2322-client-no-state-omitted"
ISOLATED = "sep-2322-client-parallel-isolation"
COMPLETE = "sep-2322-default-result-type-complete"
OWED = {
    ECHOED: f"a second call of {ECHO}, with the answer",
    NEW_ID: f"a second call of {ECHO}, with the answer",
    OMITTED: f"a second call of {NO_STATE}, with the answer",
    ISOLATED: f"a call of {UNRELATED}",
    COMPLETE: f"a call of {UNTYPED}",
}


@official_check(
    "sep-2322-client-request-state",
    "Questions in results are answered as they should be",
    requirements=tuple(OWED),
)
def judge_sep_2322_client_request_state(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _seen(trace), OWED)


def _seen(trace: Trace) -> Iterator[Observation]:
    for one in rounds(trace, ECHO):
        yield from _answered(one)
    for one in rounds(trace, NO_STATE):
        bare = STATE_KEY not in one.retry.params
        told = f"{STATE_KEY} {one.retry.params.get(STATE_KEY)!r}"
        yield observe(OMITTED, bare, one.question, one.retry, expected=f"no {STATE_KEY}", observed=told)
    for call in (*calls_of(trace, UNRELATED), *trace.inquiries("tools/list")):
        strays = [key for key in (GIVEN, STATE_KEY) if key in call.params]
        if strays or call.method == "tools/call":
            expected = "nothing that belongs to another call"
            yield observe(ISOLATED, not strays, call, expected=expected, observed=", ".join(strays))
    for call in calls_of(trace, UNTYPED):
        told = f"another call, with {GIVEN}"
        yield observe(COMPLETE, GIVEN not in call.params, call, expected="no other call", observed=told)


def _answered(one: Round) -> Iterator[Observation]:
    sent, back = (one.question.result or {}).get(STATE_KEY), one.retry.params.get(STATE_KEY)
    yield observe(
        ECHOED, back == sent, one.question, one.retry, expected=f"{STATE_KEY} {sent!r}", observed=repr(back)
    )
    first, second = one.question.request.id, one.retry.request.id
    yield observe(
        NEW_ID,
        not same_id(first, second),
        one.question,
        one.retry,
        expected="another id",
        observed=f"id {second!r} again",
    )


# --- what the checks must catch


@on_message(
    "the call with the answer has the id of the first call", breaks="sep-2322-client-jsonrpc-id-different"
)
def answer_under_old_id(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, ECHO):
        return message
    first = client.memory.setdefault("first", message["id"])
    return {**message, "id": first} if "inputResponses" in message["params"] else message


@on_message("a state is sent where none was given", breaks="sep-2322-client-no-state-omitted")
def state_made_up(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, NO_STATE) or "inputResponses" not in message["params"]:
        return message
    return within(message, ("params",), lambda params: {**params, "requestState": "mine"})


@on_message("another call carries the answers", breaks="sep-2322-client-parallel-isolation")
def answers_strewn(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, UNRELATED):
        return message
    return within(message, ("params",), lambda params: {**params, "inputResponses": {}})


@on_message("the state is parsed, and written anew", breaks="sep-2322-client-request-state-echoed")
def state_written_anew(message: Json, client: ScriptedClient) -> Json:
    state = message.get("params", {}).get("requestState")
    if state is None:
        return message
    anew = json.dumps(json.loads(state))
    return within(message, ("params",), lambda params: {**params, "requestState": anew})


@on_hearing(
    "a result without resultType is taken as a question", breaks="sep-2322-default-result-type-complete"
)
def untyped_taken_as_question(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or "resultType" in result:
        return message
    question = {
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object"}},
    }
    return {**message, "result": {"resultType": "input_required", "inputRequests": {"confirm": question}}}


BEHAVIOURS: Final = (
    behaviour(
        "core.state-forgotten",
        "the state is not given back",
        breaks="sep-2322-client-request-state-echoed",
        transports=EVERY,
        echoes_state=False,
    ),
)
