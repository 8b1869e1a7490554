"""Input responses and request state that come back to the server."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fault import forget_answers, names, result_for
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply, on_request
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.sabotage.saboteur import LocalAnswer, params_of
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.retry import forgeries, succeeded
from assay.lab.suite.retry import wants_input as wants_input_retry
from assay.lab.suite.self_description import as_object
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

from .input_round import (
    ALICE,
    USER_NAME,
    Wanted,
    able,
    asked,
    asked_in,
    asked_then_done,
    asking_tool,
    asks_wrongly,
    brings_answers,
    call,
    call_again,
    call_through,
    done,
    rounds,
    state_in,
    wants_input,
)

# --- what is asked


TOOL = asking_tool("elicitation")


# All are answers in form: one that is not may be refused for that.
FOREIGN = {"action": "accept", "content": {"foo": "bar"}}
MORE = {USER_NAME: ALICE, "unexpected_key_1": ALICE, "unexpected_key_2": FOREIGN}


@official_scenario(
    "input-required-result-ignore-extra-params",
    "The answer that was asked for, and two that were not",
    needs=(fixture_tool(TOOL),),
)
async def drive_input_required_result_ignore_extra_params(stage: Stage) -> None:
    peer = await able(stage)
    asked = await call(peer, TOOL)
    if wants_input(asked):
        await call_again(peer, TOOL, asked, inputResponses=MORE)


@official_scenario(
    "input-required-result-missing-input-response",
    "An answer to another question than the one that was asked",
    needs=(fixture_tool(TOOL),),
)
async def drive_input_required_result_missing_input_response(stage: Stage) -> None:
    peer = await able(stage)
    asked = await call(peer, TOOL)
    if wants_input(asked):
        await call_again(peer, TOOL, asked, inputResponses={"wrong_key": ALICE})


INPUT_REQUIRED_RESULT_MULTI_ROUND_TOOL = asking_tool("multi_round")


@official_scenario(
    "input-required-result-multi-round",
    "A tool asks again after the first answer",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_MULTI_ROUND_TOOL),),
)
async def drive_input_required_result_multi_round(stage: Stage) -> None:
    peer = await able(stage, {"name": "Alice", "color": "blue"})
    await call_through(peer, INPUT_REQUIRED_RESULT_MULTI_ROUND_TOOL, rounds=2)


INPUT_REQUIRED_RESULT_REQUEST_STATE_TOOL = asking_tool("request_state")


@official_scenario(
    "input-required-result-request-state",
    "A tool gives its client something to keep, and gets it back",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_REQUEST_STATE_TOOL),),
)
async def drive_input_required_result_request_state(stage: Stage) -> None:
    peer = await able(stage, {"ok": True})
    await call_through(peer, INPUT_REQUIRED_RESULT_REQUEST_STATE_TOOL)


INPUT_REQUIRED_RESULT_TAMPERED_STATE_TOOL = asking_tool("tampered_state")


@official_scenario(
    "input-required-result-tampered-state",
    "State that comes back changed",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_TAMPERED_STATE_TOOL),),
)
async def drive_input_required_result_tampered_state(stage: Stage) -> None:
    peer = await able(stage, {"ok": True})
    asked = await call(peer, INPUT_REQUIRED_RESULT_TAMPERED_STATE_TOOL)
    if not wants_input(asked):
        return
    await call_again(peer, INPUT_REQUIRED_RESULT_TAMPERED_STATE_TOOL, asked)
    # State may be good for one use: each attempt is made with some of its own.
    for forgery in range(len(_forged(asked.result.get("requestState")))):
        asked = await call(peer, INPUT_REQUIRED_RESULT_TAMPERED_STATE_TOOL)
        forged = _forged(asked.result.get("requestState"))[forgery:][:1]
        for state in forged:
            await call_again(peer, INPUT_REQUIRED_RESULT_TAMPERED_STATE_TOOL, asked, requestState=state)


def _forged(state: object) -> list[str]:
    return [f"{state}-TAMPERED", *forgeries(state)] if isinstance(state, str) and state else []


@official_scenario(
    "input-required-result-validate-input", "Answers that are none", needs=(fixture_tool(TOOL),)
)
async def drive_input_required_result_validate_input(stage: Stage) -> None:
    peer = await able(stage)
    asked = await call(peer, TOOL)
    if not wants_input(asked):
        return
    await call_again(peer, TOOL, asked)
    for wrong in ({USER_NAME: 12345}, None):
        asked = await call(peer, TOOL)
        await call_again(peer, TOOL, asked, inputResponses=wrong)


@official_check(
    "input-required-result-ignore-extra-params",
    "Answers too many are ignored",
    requirements=("sep-2322-ignore-unexpected-params",),
)
def judge_input_required_result_ignore_extra_params(trace: Trace) -> Iterator[Observation]:
    for exchange in filter(brings_answers, rounds(trace, asking_tool("elicitation"))):
        yield done("sep-2322-ignore-unexpected-params", exchange)


@official_check(
    "input-required-result-missing-input-response",
    "A missing answer is asked for again",
    requirements=("sep-2322-missing-response-rerequests",),
)
def judge_input_required_result_missing_input_response(trace: Trace) -> Iterator[Observation]:
    found = rounds(trace, asking_tool("elicitation"))
    wanted = {key for one in found if not brings_answers(one) for key in asked_in(one)}
    for exchange in filter(brings_answers, found):
        again = wants_input_retry(exchange) and wanted <= asked_in(exchange).keys()
        expected = f"an `input_required` result that asks for {', '.join(sorted(wanted))} again"
        yield observe(
            "sep-2322-missing-response-rerequests", again, exchange, expected=expected, observed=exchange
        )


FIRST, SECOND, LAST = (f"sep-2322-multi-round-r{number}" for number in (1, 2, 3))
WANTED = Wanted((ELICIT,), state=True)


@official_check(
    "input-required-result-multi-round",
    "A tool asks again after the first answer",
    requirements=(FIRST, SECOND, LAST),
)
def judge_input_required_result_multi_round(trace: Trace) -> Iterator[Observation]:
    found = rounds(trace, asking_tool("multi_round"))
    before: Exchange | None = None
    for row, exchange in zip((FIRST, SECOND), found, strict=False):
        problem = asks_wrongly(exchange, WANTED) or _repeats(exchange, before)
        expected = f"{WANTED} that was not given out before"
        yield observe(row, problem is None, exchange, expected=expected, observed=problem)
        before = exchange
    for exchange in found[2:]:
        yield done(LAST, exchange)


def _repeats(exchange: Exchange, before: Exchange | None) -> str | None:
    same = before is not None and state_in(before) == state_in(exchange)
    return "the `requestState` of the round before" if same else None


INPUT_REQUIRED_RESULT_REQUEST_STATE_FIRST, INPUT_REQUIRED_RESULT_REQUEST_STATE_LAST = (
    "sep-2322-request-state-incomplete",
    "sep-2322-request-state-complete",
)


@official_check(
    "input-required-result-request-state",
    "What a client is given to keep comes with the question, and is taken back",
    requirements=(INPUT_REQUIRED_RESULT_REQUEST_STATE_FIRST, INPUT_REQUIRED_RESULT_REQUEST_STATE_LAST),
)
def judge_input_required_result_request_state(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(
        trace,
        asking_tool("request_state"),
        INPUT_REQUIRED_RESULT_REQUEST_STATE_FIRST,
        INPUT_REQUIRED_RESULT_REQUEST_STATE_LAST,
        WANTED,
    )


@official_check(
    "input-required-result-tampered-state",
    "Changed state is refused",
    requirements=("sep-2322-reject-tampered-state",),
)
def judge_input_required_result_tampered_state(trace: Trace) -> Iterator[Observation]:
    found = rounds(trace, asking_tool("tampered_state"))
    issued = [state_in(one) for one in found]
    for exchange in found:
        if not brings_answers(exchange):
            yield asked("sep-2322-reject-tampered-state", exchange, WANTED)
        elif exchange.params.get("requestState") in issued:
            yield done("sep-2322-reject-tampered-state", exchange)
        else:
            refused = exchange.code is not None and exchange.code != METHOD_NOT_FOUND
            expected = "an error, such as -32602: this state was never given out"
            yield observe(
                "sep-2322-reject-tampered-state", refused, exchange, expected=expected, observed=exchange
            )


UNFIT, MALFORMED = "sep-2322-validate-input-responses", "sep-2322-error-on-protocol-error"
ROWS = (UNFIT, MALFORMED)


@official_check("input-required-result-validate-input", "Answers are looked at", requirements=ROWS)
def judge_input_required_result_validate_input(trace: Trace) -> Iterator[Observation]:
    found = [one for one in rounds(trace, asking_tool("elicitation")) if brings_answers(one)]
    given = [(one, one.params.get("inputResponses")) for one in found]
    fitting = [one for one, answers in given if isinstance(as_object(answers).get(USER_NAME), dict)]
    # Who takes no answer at all has not looked at these either.
    if not any(succeeded(one) for one in fitting):
        return
    for exchange, answers in given:
        if exchange not in fitting:
            row = UNFIT if isinstance(answers, dict) else MALFORMED
            expected = f"an error, or the question again: `inputResponses` was {answers!r}"
            yield observe(row, not succeeded(exchange), exchange, expected=expected, observed=exchange)


# --- what the checks must catch


@on_request("an answer too many spoils the others", breaks="sep-2322-ignore-unexpected-params")
def strict_answers(message: Json, context: FaultContext) -> Json:
    given = params_of(message).get("inputResponses")
    several = isinstance(given, dict) and len(given) > 1
    return forget_answers(message, asking_tool("elicitation")) if several else message


@on_request("a missing answer is an error", breaks="sep-2322-missing-response-rerequests")
def wrong_answer_fails(message: Json, context: FaultContext) -> Json | LocalAnswer:
    given = params_of(message).get("inputResponses", {USER_NAME: {}})
    if not names(message, asking_tool("elicitation")) or USER_NAME in given:
        return message
    error = {"code": INVALID_PARAMS, "message": "no answer to user_name"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_reply("the first of two questions comes without `requestState`", breaks="sep-2322-multi-round-r1")
def first_without_state(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("multi_round")) or {}
    if "inputResponses" not in context.params:
        result.pop("requestState", None)
    return reply


@on_reply("the second question comes with the state of the first", breaks="sep-2322-multi-round-r2")
def state_stands_still(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("multi_round")) or {}
    if "requestState" in result and "requestState" in context.params:
        result["requestState"] = context.params["requestState"]
    return reply


@on_request("after the second answer the first question comes again", breaks="sep-2322-multi-round-r3")
def first_answer_forgotten(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("multi_round")):
        given = message["params"].get("inputResponses", {})
        if "step2" in given:
            message["params"].pop("requestState")
    return message


@on_request("state is refused as it was given out", breaks="sep-2322-request-state-complete")
def own_state_refused(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("request_state")) and "requestState" in message["params"]:
        message["params"]["requestState"] += "x"
    return message


@on_reply("a question comes without `requestState`", breaks="sep-2322-request-state-incomplete")
def nothing_to_keep(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("request_state")) or {}
    result.pop("requestState", None)
    return reply


@on_request("changed state leads to the question again", breaks="sep-2322-reject-tampered-state")
def bad_state_asked_again(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    forged = str(params.get("requestState")).endswith("-TAMPERED")
    return forget_answers(message, asking_tool("tampered_state")) if forged else message


def remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request("changed state is believed", breaks="sep-2322-reject-tampered-state", reply=remember)
def state_by_likeness(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    state, issued = params.get("requestState"), context.memory.get("issued", [])
    if state is not None and len(state) == len(issued[-1] if issued else ""):
        params["requestState"] = max(issued, key=lambda one: sum(map(str.__eq__, one, state)))
    return message


@on_request("state with something appended is believed", breaks="sep-2322-reject-tampered-state")
def state_by_prefix(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if "requestState" in params:
        params["requestState"] = params["requestState"].removesuffix("-TAMPERED")
    return message


@on_request("`inputResponses: null` passes for answers", breaks="sep-2322-error-on-protocol-error")
def null_accepted(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if "inputResponses" in params and params["inputResponses"] is None:
        params["inputResponses"] = {USER_NAME: ALICE}
    return message


@on_request("a number passes for a form", breaks="sep-2322-validate-input-responses")
def number_accepted(message: Json, context: FaultContext) -> Json:
    given = params_of(message).get("inputResponses")
    if isinstance(given, dict) and isinstance(given.get(USER_NAME), int):
        given[USER_NAME] = ALICE
    return message
