"""Request state and input responses that come back from the client."""

from __future__ import annotations

import contextlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Iterator

from assay.lab.harness import FaultContext, Json, Observation, Trace, check, observe, on_request
from assay.lab.harness.sabotage.saboteur import LocalAnswer, params_of
from assay.lab.suite.retry import Retry, identity, retries, succeeded, wants_input
from assay.model.error import INVALID_PARAMS

# --- how it is judged


@check("Request state is verified", requirements=("MR-08", "MR-09", "MR-10"))
def judge_request_state(trace: Trace) -> Iterator[Observation]:
    groups: dict[str, list[Retry]] = defaultdict(list)
    for retry in retries(trace):
        groups[f"{identity(retry.exchange)} {json.dumps(retry.responses)}"].append(retry)
    forged = [one for group in groups.values() for one in group if one.is_forged]
    sealed = any(not succeeded(one.exchange) for one in forged)
    for group in groups.values():
        yield from _forged(group)
        # Who does not protect its state has nothing to bind it with.
        if sealed:
            yield from _misplaced(group)


def _forged(group: list[Retry]) -> Iterator[Observation]:
    matters = any(one.state is None and not succeeded(one.exchange) for one in group)
    genuine = any(_is_genuine(one) and succeeded(one.exchange) for one in group)
    for one in group:
        accepted = succeeded(one.exchange)
        # Accepting it is a fault where the state is seen to matter: without it, the same answers do not do.
        if one.is_forged and (not accepted or (matters and genuine)):
            expected = "an error, or the question again: this state was never given out"
            for row in ("MR-08", "MR-09"):
                yield observe(row, not accepted, one, expected=expected, observed=one.exchange)


def _misplaced(group: list[Retry]) -> Iterator[Observation]:
    genuine = any(_is_genuine(one) and succeeded(one.exchange) for one in group)
    for one in group:
        if one.is_misplaced and genuine:
            expected = "an error: this state was given to another request"
            yield observe("MR-10", not succeeded(one.exchange), one, expected=expected, observed=one.exchange)


def _is_genuine(retry: Retry) -> bool:
    return isinstance(retry.state, str) and not retry.is_forged and not retry.is_misplaced


@check("Answers are validated", requirements=("MR-20", "MR-21", "MR-22", "MR-23"))
def judge_input_responses(trace: Trace) -> Iterator[Observation]:
    for retry in retries(trace):
        if retry.exchange.answer is None or retry.is_forged or retry.is_misplaced:
            continue
        if not isinstance(retry.responses, dict):
            yield _seen("MR-21", retry, retry.exchange.code is not None, "a JSON-RPC error")
        elif any(not isinstance(retry.responses.get(key, {}), dict) for key in retry.questions):
            yield _seen("MR-20", retry, not succeeded(retry.exchange), "an error, or the question again")
        elif retry.responses.keys() > retry.questions.keys():
            yield _seen("MR-22", retry, retry.exchange.code is None, "no error for an answer too many")
        elif retry.questions.keys() - retry.responses.keys() and not succeeded(retry.exchange):
            yield _seen("MR-23", retry, wants_input(retry.exchange), "the question again")


def _seen(row: str, retry: Retry, holds: bool, expected: str) -> Observation:
    return observe(row, holds, retry, expected=expected, observed=retry.exchange)


# --- what the checks must catch


def open_up(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        issued = context.memory.setdefault("issued", [])
        issued.append(state)
        readable = json.dumps({"step": len(issued) - 1}).encode()
        reply["result"]["requestState"] = urlsafe_b64encode(readable).decode()
    return reply


@on_request(
    "request state is not signed",
    breaks="MR-08",
    scenario="stateless.asking",
    server="everything",
    reply=open_up,
)
def state_readable(message: Json, context: FaultContext) -> Json:
    state = params_of(message).get("requestState", "")
    with contextlib.suppress(ValueError, TypeError, KeyError):  # unreadable: refused by the server behind
        message["params"]["requestState"] = context.memory["issued"][
            json.loads(urlsafe_b64decode(state))["step"]
        ]
    return message


def remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request(
    "changed request state is believed",
    breaks="MR-09",
    scenario="stateless.asking",
    server="everything",
    reply=remember,
)
def state_unverified(message: Json, context: FaultContext) -> Json:
    state = params_of(message).get("requestState")
    if state is not None and context.memory:
        # The one that was changed is the one it is most like.
        alike = max(context.memory["issued"], key=lambda one: sum(map(str.__eq__, one, state)))
        message["params"]["requestState"] = alike
    return message


def state_of_others_remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory[context.params["name"]] = state
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request(
    "request state of another request is accepted",
    breaks="MR-10",
    scenario="stateless.asking",
    reply=state_of_others_remember,
)
def state_of_others(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if params.get("requestState") in context.memory.get("issued", ()):
        params["requestState"] = context.memory[params["name"]]
    return message


@on_request("an answer that is a number is taken for `cancel`", breaks="MR-20", scenario="stateless.asking")
def answer_unread(message: Json, context: FaultContext) -> Json:
    given = params_of(message).get("inputResponses")
    if isinstance(given, dict):
        read = {key: one if isinstance(one, dict) else {"action": "cancel"} for key, one in given.items()}
        message["params"]["inputResponses"] = read
    return message


@on_request("`inputResponses` that is a list is ignored", breaks="MR-21", scenario="stateless.asking")
def answers_skipped(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if isinstance(params.get("inputResponses"), list):
        del params["inputResponses"]
    return message


@on_request("an answer that was not asked for is refused", breaks="MR-22", scenario="stateless.asking")
def answer_too_many(message: Json, context: FaultContext) -> Json | LocalAnswer:
    given = params_of(message).get("inputResponses")
    if not isinstance(given, dict) or "nobody-asked" not in given:
        return message
    error = {"code": INVALID_PARAMS, "message": "unexpected input response: nobody-asked"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_request("a missing answer is an error", breaks="MR-23", scenario="stateless.asking")
def answer_missing(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if params_of(message).get("inputResponses") != {}:
        return message
    error = {"code": INVALID_PARAMS, "message": "missing input response"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
