"""Request state is echoed unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from secrets import token_hex
from typing import Final

from msgspec import Struct

from assay.lab.client.altered_message import is_call, with_params
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import calls_of, fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, Raw
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.server import Tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Exchange

ECHO: Final = "test_mrtr_echo_state"
NO_STATE: Final = "test_mrtr_no_state"
UNRELATED: Final = "test_mrtr_unrelated"
UNTYPED: Final = "test_mrtr_no_result_type"


# With unusual white space, escapes and numbers: a client that parses and serializes it again changes it.
STATE: Final = '{"round" :1.0, "nonce":"%s",  "say":"\\u00e9\\/", "of":[ ]}'


class Round(Struct, frozen=True):
    """A call whose result asks for input, and the call with the answers."""

    question: Exchange
    retry: Exchange


def rounds(trace: Trace, tool: str) -> Iterator[Round]:
    """Each call with answers, with the call whose state it returns, or else the last one before it."""
    questions: list[Exchange] = []
    for call in calls_of(trace, tool):
        if "inputResponses" in call.params and questions:
            state = call.params.get("requestState")
            same = (past for past in questions if (past.result or {}).get("requestState") == state)
            yield Round(next(same, questions[-1]), call)
        elif (call.result or {}).get("resultType") == "input_required":
            questions.append(call)


# --- what is asked


FORM: Final = {
    "message": "Please confirm to continue",
    "requestedSchema": {
        "type": "object",
        "properties": {"confirmed": {"type": "boolean", "description": "Confirm?"}},
    },
}
DONE: Final = {"content": [{"type": "text", "text": "done"}]}


@official_scenario(
    "sep-2322-client-request-state",
    "Ask for input in results, with and without a state",
    script=ClientScript(
        # The last result violates this revision, so a client may reject it.
        steps=(LIST_TOOLS, call_tool(ECHO), call_tool(NO_STATE), optional(call_tool(UNTYPED))),
        capabilities=("elicitation",),
        answers={"elicitation": "accept", "before_answering": [call_tool(UNRELATED)]},
    ),
    transports=CLIENTS,
)
async def drive_sep_2322_client_request_state(stage: ClientStage) -> None:
    for name, tool in _TOOLS.items():
        definition = {"name": name, "inputSchema": {"type": "object", "properties": {}, "required": []}}
        stage.server.add_tool(definition, tool)


async def _echo(cycle: RequestCycle) -> Answer:
    await cycle.inquire({"confirm": ("elicitation/create", FORM)}, STATE % token_hex(8))
    return DONE


async def _no_state(cycle: RequestCycle) -> Answer:
    await cycle.inquire({"confirm": ("elicitation/create", FORM)})
    return DONE


async def _unrelated(cycle: RequestCycle) -> Answer:
    return DONE


async def _untyped(cycle: RequestCycle) -> Answer:
    return Raw(encode({"jsonrpc": "2.0", "id": cycle.id, "result": DONE}))


_TOOLS: dict[str, Tool] = {ECHO: _echo, NO_STATE: _no_state, UNRELATED: _unrelated, UNTYPED: _untyped}


# --- how it is judged


ECHOED: Final = "sep-2322-client-request-state-echoed"
NEW_ID: Final = "sep-2322-client-jsonrpc-id-different"
OMITTED: Final = "sep-2322-client-no-state-omitted"
ISOLATED: Final = "sep-2322-client-parallel-isolation"
COMPLETE: Final = "sep-2322-default-result-type-complete"
EXPECTED: Final = {
    ECHOED: f"a second call of {ECHO}, with the answer",
    NEW_ID: f"a second call of {ECHO}, with the answer",
    OMITTED: f"a second call of {NO_STATE}, with the answer",
    ISOLATED: f"a call of {UNRELATED}",
    COMPLETE: f"a call of {UNTYPED}",
}


@official_check(
    "sep-2322-client-request-state",
    "Requests for input are answered by a retry with the same state",
    requirements={
        ECHOED: "The retry does not return the state unchanged",
        NEW_ID: "The retry has the id of the first call",
        OMITTED: "The retry has a state, but the server sent none",
        ISOLATED: "Another request carries answers or state",
        COMPLETE: "A result without `resultType` was taken as a request for input",
    },
)
def judge_sep_2322_client_request_state(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _calls(trace), EXPECTED)


def _calls(trace: Trace) -> Iterator[Observation]:
    for round_ in rounds(trace, ECHO):
        yield from _judge_retry(round_.question, round_.retry)
    for round_ in rounds(trace, NO_STATE):
        params = round_.retry.params
        evidence, observed = (round_.question, round_.retry), f"requestState {params.get('requestState')!r}"
        holds = "requestState" not in params
        yield observe(OMITTED, holds, *evidence, expected="no requestState", observed=observed)
    for call in (*calls_of(trace, UNRELATED), *trace.subject_exchanges("tools/list")):
        strays = [key for key in ("inputResponses", "requestState") if key in call.params]
        if strays or call.method == "tools/call":
            expected = "no answers or state of another call"
            yield observe(ISOLATED, not strays, call, expected=expected, observed=", ".join(strays))
    for call in calls_of(trace, UNTYPED):
        holds, observed = "inputResponses" not in call.params, "a second call, with inputResponses"
        yield observe(COMPLETE, holds, call, expected="no second call", observed=observed)


def _judge_retry(question: Exchange, retry: Exchange) -> Iterator[Observation]:
    sent, returned = (question.result or {}).get("requestState"), retry.params.get("requestState")
    expected = f"requestState {sent!r}"
    yield observe(ECHOED, returned == sent, question, retry, expected=expected, observed=repr(returned))
    fresh = not same_id(question.request.id, retry.request.id)
    observed = f"id {retry.request.id!r} again"
    yield observe(NEW_ID, fresh, question, retry, expected="a new id", observed=observed)


# --- what the checks must catch


@on_message("retries under the id of the first call", breaks=NEW_ID)
def answer_under_old_id(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, ECHO):
        return message
    first = client.memory.setdefault("first", message["id"])
    return {**message, "id": first} if "inputResponses" in message["params"] else message


@on_message("sends a state although it received none", breaks=OMITTED)
def state_made_up(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, NO_STATE) or "inputResponses" not in message["params"]:
        return message
    return with_params(message, requestState="mine")


@on_message("sends the answers with another call", breaks=ISOLATED)
def answers_strewn(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, UNRELATED):
        return message
    return with_params(message, inputResponses={})


@on_message("parses the state and serializes it again", breaks=ECHOED)
def state_written_anew(message: Json, client: ScriptedClient) -> Json:
    state = message.get("params", {}).get("requestState")
    if state is None:
        return message
    return with_params(message, requestState=json.dumps(json.loads(state)))


@on_received("takes a result without resultType as a request for input", breaks=COMPLETE)
def untyped_taken_as_question(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or "resultType" in result:
        return message
    question = {
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object"}},
    }
    return {**message, "result": {"resultType": "input_required", "inputRequests": {"confirm": question}}}


FORGETS: Final = behaviour(
    "core.state-forgotten", "omits the state", breaks=ECHOED, transports=EVERY, echoes_state=False
)
