"""Results that ask the client for input, and retries with answers and request state."""

from __future__ import annotations

import contextlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Response,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_reply,
    on_request,
    on_response,
    on_result,
    result_reply,
    scenario,
)
from assay.lab.harness.driver.choice import ASKING, matching_tools
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, param_headers
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ASKING as ASKING_METHODS
from assay.lab.harness.driver.question import ELICIT, MAY_ASK_DURING, URL_REQUIRED, retry
from assay.lab.harness.need import A_TOOL
from assay.lab.harness.sabotage.saboteur import LocalAnswer, meta_of, params_of
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.envelope import duplicate_keys
from assay.lab.suite.retry import NEEDED, Retry, forgeries, identity, retries, succeeded, wants_input
from assay.lab.suite.self_description import as_object, capabilities_of, is_of_revision
from assay.model.error import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
)
from assay.revisions.revision import Asking

# --- what is asked


ROUNDS: Final = 4
CAPABILITIES: Final[dict[str, Any]] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class AskingTool(Struct):
    tool: dict[str, Any]
    arguments: dict[str, Any]
    answers: dict[str, Any] = {}
    """The parameters of the next retry."""

    async def call(self, peer: Peer, **more: Any) -> Reply:
        params = {"name": self.tool["name"], "arguments": self.arguments, **more}
        return await peer.request("tools/call", params, headers=param_headers(self.tool, self.arguments))

    async def retry(self, peer: Peer, **changed: Any) -> Reply:
        params = {**self.answers, **changed}
        return await self.call(peer, **{key: value for key, value in params.items() if value is not None})


@scenario(
    "Call tools that ask for input, and retry with valid and invalid answers",
    exercises=(
        "stateless.input-required",
        "stateless.missing-capability",
        "stateless.request-state",
        "stateless.input-responses",
        "stateless.abandoned",
        "stateless.only-clients-ask",
        "stateless.retired-codes",
    ),
    needs=(A_TOOL,),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
    effects=True,
)
async def drive_asking(stage: Stage) -> None:
    peer = await stage.open(**CAPABILITIES)
    previous: AskingTool | None = None
    facts = stage.facts
    for tool in (AskingTool(tool, facts.arguments_for(tool)) for tool in matching_tools(ASKING, facts)):
        reply = await tool.call(peer)
        if previous is None and wants_input(reply):
            reply = await tool.call(peer)
        if wants_input(reply):
            await _answer(peer, tool, reply, previous)
            # The same call without capabilities, which earlier requests had.
            peer.capabilities = {}
            await tool.call(peer)
            peer.capabilities = CAPABILITIES
            previous = tool


async def _answer(peer: Peer, tool: AskingTool, reply: Reply, previous: AskingTool | None) -> None:
    """Answer all rounds of a tool; before, send invalid answers to the first tool and in second rounds."""
    for round_number in range(ROUNDS):
        tool.answers = retry(peer, reply.result)
        if previous is None or round_number == 1:
            await _send_invalid(peer, tool)
        elif round_number == 0 and "requestState" in tool.answers and "requestState" in previous.answers:
            await previous.retry(peer, requestState=tool.answers["requestState"])
        reply = await tool.retry(peer)
        if not wants_input(reply):
            return


async def _send_invalid(peer: Peer, tool: AskingTool) -> None:
    valid, state = tool.answers["inputResponses"], tool.answers.get("requestState")
    for invalid in ({**valid, "nobody-asked": {"action": "decline"}}, dict.fromkeys(valid, 42), [valid], {}):
        await tool.retry(peer, inputResponses=invalid)
    if isinstance(state, str):
        await tool.call(peer, inputResponses=valid)
        for forged in forgeries(state):
            await tool.retry(peer, requestState=forged)


# --- how it is judged


@check(
    "Results that ask for input are valid",
    requirements=("MR-02", "MR-03", "MR-04", "MR-05", "MR-06", "META-09", "CA-02"),
    everywhere=True,
    history=True,
)
def judge_input_required(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.result is not None:
            allowed = exchange.method in MAY_ASK_DURING or not wants_input(exchange)
            yield observe("MR-02", allowed, exchange, expected="no input request", observed=exchange)
    for exchange in filter(wants_input, trace.exchanges()):
        yield from _judge_members(exchange)
        for key, question in _questions(exchange).items():
            yield from _judge_question(exchange, key, question)


def _questions(exchange: Exchange) -> dict[str, Any]:
    return as_object((exchange.result or {}).get("inputRequests"))


def _judge_members(exchange: Exchange) -> Iterator[Observation]:
    keys = (exchange.result or {}).keys()
    repeated = ", ".join(duplicate_keys(exchange.answer.body if exchange.answer else b"", "inputRequests"))
    observed = f"twice: {repeated}"
    yield observe("MR-03", not repeated, exchange, expected="unique keys", observed=observed)
    present = bool(keys & {"inputRequests", "requestState"})
    expected = "`inputRequests` or `requestState`"
    yield observe("MR-05", present, exchange, expected=expected, observed=exchange)
    hints = sorted(keys & {"ttlMs", "cacheScope"})
    yield observe("CA-02", not hints, exchange, expected="no cache hints", observed=", ".join(hints))


def _judge_question(exchange: Exchange, key: str, question: Any) -> Iterator[Observation]:
    method = as_object(question).get("method")
    capability = NEEDED.get(method) if isinstance(method, str) else None
    expected, observed = f"a request of {', '.join(NEEDED)}", f"{key}: {method!r}"
    yield observe("MR-04", capability is not None, exchange, expected=expected, observed=observed)
    if capability is not None:
        declared = isinstance(capabilities_of(exchange).get(capability), dict)
        expected = f"no {method}: this request did not declare `{capability}`"
        for requirement in ("MR-06", "META-09"):
            yield observe(requirement, declared, exchange, expected=expected, observed=f"{key}: {method}")


@check("The error for a missing capability names it", requirements=("META-10",), everywhere=True)
def judge_missing_capability(trace: Trace) -> Iterator[Observation]:
    needed: dict[str, set[str]] = {}
    for exchange in trace.exchanges(*MAY_ASK_DURING):
        name = identity(exchange)
        if wants_input(exchange):
            methods = [str(as_object(question).get("method")) for question in _questions(exchange).values()]
            needed[name] = {NEEDED[method] for method in methods if method in NEEDED}
        elif exchange.code is not None and "inputResponses" not in exchange.params:
            missing = needed.get(name, set()) - capabilities_of(exchange).keys()
            if missing:
                names, problem = ", ".join(sorted(missing)), _problem(exchange, missing)
                expected = f"error {MISSING_CAPABILITY} that names {names}, on HTTP with 400"
                yield observe("META-10", problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange, missing: set[str]) -> str | None:
    if exchange.code != MISSING_CAPABILITY or exchange.answer is None:
        return str(exchange)
    required = as_object(exchange.answer.error.get("data")).get("requiredCapabilities")
    if not isinstance(required, dict) or not missing & required.keys():
        return f"`data.requiredCapabilities` is {required!r}"
    status = 400 if exchange.head is None else exchange.head.status
    return None if status == 400 else f"HTTP status {status}"


@check("An input request may remain unanswered", requirements=("MR-12",))
def judge_abandoned(trace: Trace) -> Iterator[Observation]:
    unanswered: dict[str, Exchange] = {}
    for exchange in trace.exchanges(*MAY_ASK_DURING):
        name = identity(exchange)
        earlier = unanswered.pop(name, None)
        if "inputResponses" in exchange.params:
            continue
        same = earlier is not None and capabilities_of(earlier) == capabilities_of(exchange)
        if earlier is not None and same and exchange.answer is not None:
            holds, expected = exchange.code is None, "a new start of the request, without an error"
            yield observe("MR-12", holds, earlier, exchange, expected=expected, observed=exchange)
        if wants_input(exchange):
            unanswered[name] = exchange


@check("The server sends no requests", requirements=("BASE-32", "MR-01"), everywhere=True)
def judge_only_clients_ask(trace: Trace) -> Iterator[Observation]:
    # A connection with a handshake follows the rules of its revision, which allow requests of servers.
    handshakes = {exchange.request.frame.connection for exchange in trace.exchanges("initialize")}
    for message in trace.received:
        if message.frame.connection in handshakes:
            continue
        is_request = message.shape is Shape.REQUEST
        yield observe("BASE-32", not is_request, message, expected="no request", observed=message)
        if is_request and message.method in ASKING_METHODS:
            expected = "the input request in an `input_required` result"
            yield observe("MR-01", False, message, expected=expected, observed=message)
    for exchange in filter(wants_input, trace.exchanges()):
        yield observe("MR-01", True, exchange, expected="input requests in a result", observed=exchange)


@check("Retired error codes are not used", requirements=("BASE-24",), everywhere=True)
def judge_retired_codes(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.code is not None and is_of_revision(exchange, trace.revision):
            holds = exchange.code not in (RESOURCE_NOT_FOUND, URL_REQUIRED)
            yield observe("BASE-24", holds, exchange, expected="a code of this revision", observed=exchange)


@check("Request state is verified", requirements=("MR-08", "MR-09", "MR-10"))
def judge_request_state(trace: Trace) -> Iterator[Observation]:
    groups: dict[str, list[Retry]] = defaultdict(list)
    for attempt in retries(trace):
        groups[f"{identity(attempt.exchange)} {json.dumps(attempt.responses)}"].append(attempt)
    attempts = [attempt for group in groups.values() for attempt in group]
    # A server that does not protect its state cannot bind it to a request.
    is_protected = any(attempt.is_forged and not succeeded(attempt.exchange) for attempt in attempts)
    for group in groups.values():
        genuine = any(_is_genuine(attempt) and succeeded(attempt.exchange) for attempt in group)
        # Accepting a forged state is a fault only if the same answers without state are refused.
        matters = genuine and any(each.state is None and not succeeded(each.exchange) for each in group)
        for attempt in group:
            refused, observed = not succeeded(attempt.exchange), attempt.exchange
            if attempt.is_forged and (refused or matters):
                expected = "an error or the input request again: this state was never issued"
                for requirement in ("MR-08", "MR-09"):
                    yield observe(requirement, refused, attempt, expected=expected, observed=observed)
            if is_protected and attempt.is_misplaced and genuine:
                expected = "an error: this state was issued to another request"
                yield observe("MR-10", refused, attempt, expected=expected, observed=observed)


def _is_genuine(attempt: Retry) -> bool:
    return isinstance(attempt.state, str) and not attempt.is_forged and not attempt.is_misplaced


@check("Input responses are validated", requirements=("MR-20", "MR-21", "MR-22", "MR-23"))
def judge_input_responses(trace: Trace) -> Iterator[Observation]:
    for attempt in retries(trace):
        exchange, responses, questions = attempt.exchange, attempt.responses, attempt.questions
        if exchange.answer is None or attempt.is_forged or attempt.is_misplaced:
            continue
        if not isinstance(responses, dict):
            yield _judge_response("MR-21", attempt, exchange.code is not None, "a JSON-RPC error")
        elif any(not isinstance(responses.get(key, {}), dict) for key in questions):
            expected = "an error, or the input request again"
            yield _judge_response("MR-20", attempt, not succeeded(exchange), expected)
        elif responses.keys() > questions.keys():
            yield _judge_response("MR-22", attempt, exchange.code is None, "no error for an extra response")
        elif questions.keys() - responses.keys() and not succeeded(exchange):
            yield _judge_response("MR-23", attempt, wants_input(exchange), "the input request again")


def _judge_response(requirement: str, attempt: Retry, holds: bool, expected: str) -> Observation:
    return observe(requirement, holds, attempt, expected=expected, observed=attempt.exchange)


# --- what the checks must catch


IN_ASKING: Final = "stateless.asking"


def _asks(reply: Json) -> bool:
    return bool(reply.get("result", {}).get("resultType") == "input_required")


@on_result("sends cache hints with an input request", breaks="CA-02", scenario=IN_ASKING)
def hints_on_questions(result: Json, context: FaultContext) -> None:
    if result.get("resultType") == "input_required":
        result |= {"ttlMs": 60_000, "cacheScope": "private"}


@on_request("assumes the capabilities of earlier requests", breaks="META-09")
def capabilities_remembered(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if CAPABILITIES_KEY in meta:
        context.memory.update(meta[CAPABILITIES_KEY])
        meta[CAPABILITIES_KEY] = dict(context.memory)
    return message


@on_reply("answers `resources/list` with an input request", breaks="MR-02", scenario="stateless.lists")
def asks_in_a_list(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/list":
        return reply
    return result_reply(reply, {"resultType": "input_required", "requestState": "which folder?"})


PLACE: Final = "where the questions go"


@on_reply("uses a key for two input requests", breaks="MR-03", scenario=IN_ASKING)
def key_twice(reply: Json, context: FaultContext) -> Json | bytes:
    questions = reply.get("result", {}).get("inputRequests")
    if not questions:
        return reply
    text = json.dumps({**reply, "result": {**reply["result"], "inputRequests": PLACE}})
    member = json.dumps(questions)[1:-1]
    return text.replace(json.dumps(PLACE), f"{{{member}, {member}}}").encode()


@on_result("sends an input request of an unknown method", breaks="MR-04", scenario=IN_ASKING)
def asks_something_else(result: Json, context: FaultContext) -> None:
    for question in result.get("inputRequests", {}).values():
        question["method"] = "user/confirm"


@on_result("asks for input without requests or state", breaks="MR-05", scenario=IN_ASKING)
def asks_nothing(result: Json, context: FaultContext) -> None:
    if result.get("resultType") == "input_required":
        for key in ("inputRequests", "requestState"):
            result.pop(key, None)


def _lacks_capability(reply: Json) -> bool:
    return bool(reply.get("error", {}).get("code") == MISSING_CAPABILITY)


@on_reply("asks a client without capabilities for its roots", breaks="MR-06")
def asks_anybody(reply: Json, context: FaultContext) -> Json:
    questions = {"roots": {"method": "roots/list"}}
    result = {"resultType": "input_required", "inputRequests": questions}
    return result_reply(reply, result) if _lacks_capability(reply) else reply


@on_reply("reports a missing capability as error -32603", breaks="META-10")
def missing_capability_internal(reply: Json, context: FaultContext) -> Json:
    return error_reply(reply, INTERNAL_ERROR, "Internal error") if _lacks_capability(reply) else reply


@on_reply("sends `requiredCapabilities` as a list of names", breaks="META-10")
def missing_capability_names(reply: Json, context: FaultContext) -> Json:
    if _lacks_capability(reply):
        data = reply["error"]["data"]
        data["requiredCapabilities"] = list(data["requiredCapabilities"])
    return reply


@on_response("reports a missing capability with status 200", breaks="META-10")
def missing_capability_ok(response: Response, context: FaultContext) -> None:
    if context.method == "tools/call" and response.status == 400:
        response.status = 200


def _remember_waiting(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call":
        context.memory[context.params.get("name", "")] = _asks(reply)
    return reply


@on_request(
    "refuses calls of a tool that waits for input",
    breaks="MR-12",
    scenario=IN_ASKING,
    reply=_remember_waiting,
)
def waits_for_answers(message: Json, context: FaultContext) -> Json | LocalAnswer:
    params = params_of(message)
    if not context.memory.get(params.get("name", "")) or "inputResponses" in params:
        return message
    return LocalAnswer([error_reply(message, INVALID_REQUEST, "waiting for input")])


@on_reply("pings the client", breaks="BASE-32", transports=STDIO_ONLY, scenario="stateless.discovery")
def pings(reply: Json, context: FaultContext) -> list[Json]:
    ping = {"jsonrpc": "2.0", "id": "are-you-there", "method": "ping"}
    return [ping, reply] if context.method == "tools/list" else [reply]


FORM: Final = {"message": "Who are you?", "requestedSchema": {"type": "object", "properties": {}}}


@on_reply("elicits by a request", breaks="MR-01", transports=STDIO_ONLY, scenario=IN_ASKING)
def elicits_by_request(reply: Json, context: FaultContext) -> list[Json]:
    request = {"jsonrpc": "2.0", "id": "asks-1", "method": ELICIT, "params": FORM}
    return [request, reply] if _asks(reply) else [reply]


@on_reply("asks for input with -32042, as in earlier revisions", breaks="BASE-24", scenario=IN_ASKING)
def url_required(reply: Json, context: FaultContext) -> Json:
    if not _asks(reply):
        return reply
    return error_reply(reply, URL_REQUIRED, "URL elicitation required", elicitations=[])


def _send_readable_state(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        issued = context.memory.setdefault("issued", [])
        issued.append(state)
        readable = json.dumps({"step": len(issued) - 1}).encode()
        reply["result"]["requestState"] = urlsafe_b64encode(readable).decode()
    return reply


@on_request(
    "does not sign request state",
    breaks="MR-08",
    scenario=IN_ASKING,
    server="everything",
    reply=_send_readable_state,
)
def state_readable(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    with contextlib.suppress(ValueError, TypeError, KeyError):  # the server behind refuses unreadable state
        step = json.loads(urlsafe_b64decode(params.get("requestState", "")))["step"]
        params["requestState"] = context.memory["issued"][step]
    return message


def _remember_state(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory.setdefault("issued", []).append(state)
        context.memory[context.params.get("name", "")] = state
    return reply


@on_request(
    "accepts changed request state",
    breaks="MR-09",
    scenario=IN_ASKING,
    server="everything",
    reply=_remember_state,
)
def state_unverified(message: Json, context: FaultContext) -> Json:
    state = params_of(message).get("requestState")
    if state is not None and context.memory:
        # The original of a changed state is the most similar one.
        original = max(context.memory["issued"], key=lambda each: sum(map(str.__eq__, each, state)))
        message["params"]["requestState"] = original
    return message


@on_request(
    "accepts the request state of another request",
    breaks="MR-10",
    scenario=IN_ASKING,
    reply=_remember_state,
)
def state_of_others(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if params.get("requestState") in context.memory.get("issued", ()):
        params["requestState"] = context.memory[params["name"]]
    return message


@on_request("takes a number as response for `cancel`", breaks="MR-20", scenario=IN_ASKING)
def answer_unread(message: Json, context: FaultContext) -> Json:
    responses = params_of(message).get("inputResponses")
    if isinstance(responses, dict):
        for key in [key for key, response in responses.items() if not isinstance(response, dict)]:
            responses[key] = {"action": "cancel"}
    return message


@on_request("ignores `inputResponses` that is a list", breaks="MR-21", scenario=IN_ASKING)
def answers_skipped(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if isinstance(params.get("inputResponses"), list):
        del params["inputResponses"]
    return message


@on_request("refuses an extra response", breaks="MR-22", scenario=IN_ASKING)
def answer_too_many(message: Json, context: FaultContext) -> Json | LocalAnswer:
    responses = params_of(message).get("inputResponses")
    if not isinstance(responses, dict) or "nobody-asked" not in responses:
        return message
    return LocalAnswer([error_reply(message, INVALID_PARAMS, "unexpected input response: nobody-asked")])


@on_request("refuses a retry without the response", breaks="MR-23", scenario=IN_ASKING)
def answer_missing(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if params_of(message).get("inputResponses") != {}:
        return message
    return LocalAnswer([error_reply(message, INVALID_PARAMS, "missing input response")])
