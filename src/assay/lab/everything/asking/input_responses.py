"""Input responses and request state that come back to the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    error_reply,
    observe,
    on_request,
    on_result,
)
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.sabotage.saboteur import LocalAnswer, params_of
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.retry import forgeries, succeeded, wants_input
from assay.lab.suite.self_description import as_object
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

from .input_round import (
    ALICE,
    USER_NAME,
    ExpectedInput,
    asking_tool,
    call,
    call_with_input,
    calls_tool,
    drop_responses,
    has_responses,
    input_requests,
    observe_completion,
    observe_request,
    open_capable,
    request_problem,
    request_state,
    requests_for,
    retry_call,
)

ELICITATION: Final = asking_tool("elicitation")
MULTI_ROUND: Final = asking_tool("multi_round")
TAMPERED: Final = asking_tool("tampered_state")
WITH_STATE: Final = ExpectedInput((ELICIT,), state=True)

# --- what is asked

# All of them are well-formed: a server may refuse malformed answers for that reason.
UNEXPECTED: Final = {"action": "accept", "content": {"foo": "bar"}}
EXTRA: Final = {USER_NAME: ALICE, "unexpected_key_1": ALICE, "unexpected_key_2": UNEXPECTED}


@official_scenario(
    "input-required-result-ignore-extra-params",
    "Send the requested answer and two more",
    needs=(fixture_tool(ELICITATION),),
)
async def drive_input_required_result_ignore_extra_params(stage: Stage) -> None:
    await _respond(stage, EXTRA)


@official_scenario(
    "input-required-result-missing-input-response",
    "Answer a request that was not made",
    needs=(fixture_tool(ELICITATION),),
)
async def drive_input_required_result_missing_input_response(stage: Stage) -> None:
    await _respond(stage, {"wrong_key": ALICE})


async def _respond(stage: Stage, responses: Json) -> None:
    peer = await open_capable(stage)
    reply = await call(peer, ELICITATION)
    if wants_input(reply):
        await retry_call(peer, ELICITATION, reply, inputResponses=responses)


@official_scenario(
    "input-required-result-multi-round",
    "Answer a tool that requests input twice",
    needs=(fixture_tool(MULTI_ROUND),),
)
async def drive_input_required_result_multi_round(stage: Stage) -> None:
    peer = await open_capable(stage, {"name": "Alice", "color": "blue"})
    await call_with_input(peer, MULTI_ROUND, rounds=2)


@official_scenario(
    "input-required-result-tampered-state", "Send back altered state", needs=(fixture_tool(TAMPERED),)
)
async def drive_input_required_result_tampered_state(stage: Stage) -> None:
    peer = await open_capable(stage, {"ok": True})
    reply = await call(peer, TAMPERED)
    if not wants_input(reply):
        return
    await retry_call(peer, TAMPERED, reply)
    # State may be valid for one use, so each attempt gets new state.
    for number in range(len(_forged(reply.result.get("requestState")))):
        reply = await call(peer, TAMPERED)
        for state in _forged(reply.result.get("requestState"))[number:][:1]:
            await retry_call(peer, TAMPERED, reply, requestState=state)


def _forged(state: object) -> list[str]:
    return [f"{state}-TAMPERED", *forgeries(state)] if isinstance(state, str) and state else []


@official_scenario(
    "input-required-result-validate-input", "Send malformed answers", needs=(fixture_tool(ELICITATION),)
)
async def drive_input_required_result_validate_input(stage: Stage) -> None:
    peer = await open_capable(stage)
    reply = await call(peer, ELICITATION)
    if not wants_input(reply):
        return
    await retry_call(peer, ELICITATION, reply)
    for responses in ({USER_NAME: 12345}, None):
        reply = await call(peer, ELICITATION)
        await retry_call(peer, ELICITATION, reply, inputResponses=responses)


# --- how it is judged


@official_check(
    "input-required-result-ignore-extra-params",
    "Unexpected answers are ignored",
    requirements=("sep-2322-ignore-unexpected-params",),
)
def judge_input_required_result_ignore_extra_params(trace: Trace) -> Iterator[Observation]:
    for exchange in filter(has_responses, requests_for(trace, ELICITATION)):
        yield observe_completion("sep-2322-ignore-unexpected-params", exchange)


@official_check(
    "input-required-result-missing-input-response",
    "Missing input is requested again",
    requirements=("sep-2322-missing-response-rerequests",),
)
def judge_input_required_result_missing_input_response(trace: Trace) -> Iterator[Observation]:
    exchanges = requests_for(trace, ELICITATION)
    keys = {key for first in exchanges if not has_responses(first) for key in input_requests(first)}
    for exchange in filter(has_responses, exchanges):
        yield observe(
            "sep-2322-missing-response-rerequests",
            wants_input(exchange) and keys <= input_requests(exchange).keys(),
            exchange,
            expected=f"an `input_required` result that requests {', '.join(sorted(keys))} again",
            observed=exchange,
        )


FIRST, SECOND, LAST = (f"sep-2322-multi-round-r{number}" for number in (1, 2, 3))


@official_check(
    "input-required-result-multi-round",
    "A tool requests input twice, each time with new state",
    requirements=(FIRST, SECOND, LAST),
)
def judge_input_required_result_multi_round(trace: Trace) -> Iterator[Observation]:
    exchanges = requests_for(trace, MULTI_ROUND)
    before: Exchange | None = None
    for requirement, exchange in zip((FIRST, SECOND), exchanges, strict=False):
        problem = request_problem(exchange, WITH_STATE) or _repeated_state(exchange, before)
        expected = f"{WITH_STATE} that was not issued before"
        yield observe(requirement, problem is None, exchange, expected=expected, observed=problem)
        before = exchange
    for exchange in exchanges[2:]:
        yield observe_completion(LAST, exchange)


def _repeated_state(exchange: Exchange, before: Exchange | None) -> str | None:
    same = before is not None and request_state(before) == request_state(exchange)
    return "the `requestState` of the previous round" if same else None


@official_check(
    "input-required-result-tampered-state",
    "Altered state is refused",
    requirements=("sep-2322-reject-tampered-state",),
)
def judge_input_required_result_tampered_state(trace: Trace) -> Iterator[Observation]:
    requirement = "sep-2322-reject-tampered-state"
    exchanges = requests_for(trace, TAMPERED)
    issued = [request_state(exchange) for exchange in exchanges]
    for exchange in exchanges:
        if not has_responses(exchange):
            yield observe_request(requirement, exchange, WITH_STATE)
        elif exchange.params.get("requestState") in issued:
            yield observe_completion(requirement, exchange)
        else:
            refused = exchange.code is not None and exchange.code != METHOD_NOT_FOUND
            expected = "an error, such as -32602: this state was never issued"
            yield observe(requirement, refused, exchange, expected=expected, observed=exchange)


INVALID, MALFORMED = "sep-2322-validate-input-responses", "sep-2322-error-on-protocol-error"


@official_check(
    "input-required-result-validate-input", "Answers are validated", requirements=(INVALID, MALFORMED)
)
def judge_input_required_result_validate_input(trace: Trace) -> Iterator[Observation]:
    exchanges = filter(has_responses, requests_for(trace, ELICITATION))
    answers = [(exchange, exchange.params.get("inputResponses")) for exchange in exchanges]
    valid = [retry for retry, responses in answers if isinstance(as_object(responses).get(USER_NAME), dict)]
    # If the server accepts no answer at all, a refusal shows no validation.
    if not any(map(succeeded, valid)):
        return
    for exchange, responses in answers:
        if exchange not in valid:
            requirement = INVALID if isinstance(responses, dict) else MALFORMED
            expected = f"an error, or the request again: `inputResponses` was {responses!r}"
            holds = not succeeded(exchange)
            yield observe(requirement, holds, exchange, expected=expected, observed=exchange)


# --- what the checks must catch


@on_request("drops all answers if there are unexpected ones", breaks="sep-2322-ignore-unexpected-params")
def strict_answers(message: Json, context: FaultContext) -> Json:
    several = len(as_object(params_of(message).get("inputResponses"))) > 1
    return drop_responses(message, ELICITATION) if several else message


@on_request("refuses a call without the requested answer", breaks="sep-2322-missing-response-rerequests")
def wrong_answer_fails(message: Json, context: FaultContext) -> Json | LocalAnswer:
    responses = params_of(message).get("inputResponses", {USER_NAME: {}})
    if not calls_tool(message, ELICITATION) or USER_NAME in responses:
        return message
    return LocalAnswer([error_reply(message, INVALID_PARAMS, "no answer to user_name")])


@on_result("issues no `requestState` in the first round", breaks=FIRST, name=MULTI_ROUND)
def first_without_state(result: Json, context: FaultContext) -> None:
    if "inputResponses" not in context.params:
        result.pop("requestState", None)


@on_result("repeats the state of the first round in the second", breaks=SECOND, name=MULTI_ROUND)
def state_stands_still(result: Json, context: FaultContext) -> None:
    if "requestState" in result and "requestState" in context.params:
        result["requestState"] = context.params["requestState"]


@on_request("starts again after the second answer", breaks=LAST)
def first_answer_forgotten(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if calls_tool(message, MULTI_ROUND) and "step2" in params.get("inputResponses", {}):
        params.pop("requestState")
    return message


@on_request("requests input again after altered state", breaks="sep-2322-reject-tampered-state")
def bad_state_asked_again(message: Json, context: FaultContext) -> Json:
    forged = str(params_of(message).get("requestState")).endswith("-TAMPERED")
    return drop_responses(message, TAMPERED) if forged else message


def remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request(
    "accepts state that resembles issued state", breaks="sep-2322-reject-tampered-state", reply=remember
)
def state_by_likeness(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    state, issued = params.get("requestState"), context.memory.get("issued", [])
    if state is not None and len(state) == len(issued[-1] if issued else ""):
        params["requestState"] = max(issued, key=lambda known: sum(map(str.__eq__, known, state)))
    return message


@on_request("accepts state with a suffix", breaks="sep-2322-reject-tampered-state")
def state_by_prefix(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if "requestState" in params:
        params["requestState"] = params["requestState"].removesuffix("-TAMPERED")
    return message


@on_request("accepts `inputResponses: null` as an answer", breaks="sep-2322-error-on-protocol-error")
def null_accepted(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if "inputResponses" in params and params["inputResponses"] is None:
        params["inputResponses"] = {USER_NAME: ALICE}
    return message


@on_request("accepts a number as a form", breaks="sep-2322-validate-input-responses")
def number_accepted(message: Json, context: FaultContext) -> Json:
    responses = as_object(params_of(message).get("inputResponses"))
    if isinstance(responses.get(USER_NAME), int):
        responses[USER_NAME] = ALICE
    return message
