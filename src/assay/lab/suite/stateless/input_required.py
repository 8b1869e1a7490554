"""Results that ask the client for input before the request can be served."""

from __future__ import annotations

import json
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
    observe,
    on_reply,
    on_request,
    on_response,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
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
from assay.lab.suite.retry import NEEDED, forgeries, identity, wants_input
from assay.lab.suite.self_description import as_object, capabilities_of, is_of_revision
from assay.model.error import INTERNAL_ERROR, INVALID_REQUEST, MISSING_CAPABILITY, RESOURCE_NOT_FOUND
from assay.revisions.revision import Asking

# --- what is asked


ROUNDS: Final = 4
ABLE: Final[dict[str, Any]] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class Asked(Struct):
    """A tool in the middle of its questions."""

    tool: dict[str, Any]
    answers: dict[str, Any]
    """What the next try comes with."""

    async def call(self, peer: Peer, **more: Any) -> Reply:
        arguments = arguments_for(self.tool)
        params = {"name": self.tool["name"], "arguments": arguments, **more}
        return await peer.request("tools/call", params, headers=param_headers(self.tool, arguments))

    async def retry(self, peer: Peer, **changed: Any) -> Reply:
        given = {**self.answers, **changed}
        return await self.call(peer, **{key: value for key, value in given.items() if value is not None})


@scenario(
    "Tools that ask first",
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
    peer = await stage.open(**ABLE)
    previous: Asked | None = None
    for tool in matching_tools(ASKING, stage.facts):
        asked = Asked(tool, {})
        reply = await asked.call(peer)
        if previous is None and reply.result.get("resultType") == "input_required":
            reply = await asked.call(peer)
        if reply.result.get("resultType") == "input_required":
            await _interview(peer, asked, reply, previous)
            await _unable(peer, asked)
            previous = asked


async def _interview(peer: Peer, asked: Asked, reply: Reply, previous: Asked | None) -> None:
    """To the end, with attempts on the way: at the first tool, and where one asks a second time."""
    for turn in range(ROUNDS):
        asked.answers = retry(peer, reply.result)
        if previous is None or turn == 1:
            await _mislead(peer, asked)
        elif turn == 0 and "requestState" in asked.answers and "requestState" in previous.answers:
            await previous.retry(peer, requestState=asked.answers["requestState"])
        reply = await asked.retry(peer)
        if reply.result.get("resultType") != "input_required":
            return


async def _mislead(peer: Peer, asked: Asked) -> None:
    given, state = asked.answers["inputResponses"], asked.answers.get("requestState")
    for wrong in ({**given, "nobody-asked": {"action": "decline"}}, dict.fromkeys(given, 42), [given], {}):
        await asked.retry(peer, inputResponses=wrong)
    if isinstance(state, str):
        await asked.call(peer, inputResponses=given)
        for forged in forgeries(state):
            await asked.retry(peer, requestState=forged)


async def _unable(peer: Peer, asked: Asked) -> None:
    """The same call from a client that declares nothing, though it declared all that before."""
    peer.capabilities = {}
    await asked.call(peer)
    peer.capabilities = ABLE


# --- how it is judged


ROWS: Final = ("MR-02", "MR-03", "MR-04", "MR-05", "MR-06", "META-09", "CA-02")


@check("Results that want input are in order", requirements=ROWS, everywhere=True)
def judge_input_required(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.result is not None:
            fits = exchange.method in MAY_ASK_DURING or not wants_input(exchange)
            yield observe("MR-02", fits, exchange, expected="no question here", observed=exchange)
    for exchange in filter(wants_input, trace.exchanges()):
        yield from _result(exchange)
        for key, asked in as_object((exchange.result or {}).get("inputRequests")).items():
            yield from _question(exchange, key, asked)


def _result(exchange: Exchange) -> Iterator[Observation]:
    result = exchange.result or {}
    twice = ", ".join(duplicate_keys(exchange.answer.body if exchange.answer else b"", "inputRequests"))
    yield observe("MR-03", not twice, exchange, expected="keys that differ", observed=f"twice: {twice}")
    some = bool(result.keys() & {"inputRequests", "requestState"})
    expected = "`inputRequests` or `requestState`"
    yield observe("MR-05", some, exchange, expected=expected, observed=exchange)
    hints = sorted(result.keys() & {"ttlMs", "cacheScope"})
    yield observe("CA-02", not hints, exchange, expected="no hints for caches", observed=", ".join(hints))


def _question(exchange: Exchange, key: str, asked: Any) -> Iterator[Observation]:
    method = as_object(asked).get("method")
    known = isinstance(method, str) and method in NEEDED
    expected = f"a request of {', '.join(NEEDED)}"
    yield observe("MR-04", known, exchange, expected=expected, observed=f"{key}: {method!r}")
    if isinstance(method, str) and method in NEEDED:
        declared = isinstance(capabilities_of(exchange).get(NEEDED[method]), dict)
        for row in ("MR-06", "META-09"):
            expected = f"no {method}: this request did not declare `{NEEDED[method]}`"
            yield observe(row, declared, exchange, expected=expected, observed=f"{key}: {method}")


@check("A missing capability is named", requirements=("META-10",))
def judge_missing_capability(trace: Trace) -> Iterator[Observation]:
    needed: dict[str, set[str]] = {}
    for exchange in trace.exchanges(*MAY_ASK_DURING):
        name = identity(exchange)
        if wants_input(exchange):
            needed[name] = _needed(exchange)
        elif exchange.code is not None and "inputResponses" not in exchange.params:
            lacking = needed.get(name, set()) - capabilities_of(exchange).keys()
            if lacking:
                problem = _problem(exchange, lacking)
                expected = (
                    f"error {MISSING_CAPABILITY} that names {', '.join(sorted(lacking))}, on HTTP with 400"
                )
                yield observe("META-10", problem is None, exchange, expected=expected, observed=problem)


def _needed(exchange: Exchange) -> set[str]:
    """What the questions of a result need, seen from the same request with more declared."""
    asked = as_object((exchange.result or {}).get("inputRequests")).values()
    return {NEEDED[method] for one in asked if (method := str(as_object(one).get("method"))) in NEEDED}


def _problem(exchange: Exchange, lacking: set[str]) -> str | None:
    if exchange.code != MISSING_CAPABILITY or exchange.answer is None:
        return str(exchange)
    required = as_object(exchange.answer.error.get("data")).get("requiredCapabilities")
    if not isinstance(required, dict) or not lacking & required.keys():
        return f"`data.requiredCapabilities` is {required!r}"
    status = 400 if exchange.head is None else exchange.head.status
    return None if status == 400 else f"HTTP status {status}"


@check("A question may be left unanswered", requirements=("MR-12",))
def judge_abandoned(trace: Trace) -> Iterator[Observation]:
    left: dict[str, Exchange] = {}
    for exchange in trace.exchanges(*MAY_ASK_DURING):
        name = identity(exchange)
        asked = left.pop(name, None)
        if "inputResponses" in exchange.params:
            continue
        alike = asked is not None and capabilities_of(asked) == capabilities_of(exchange)
        if asked is not None and alike and exchange.answer is not None:
            expected = "to be served anew, though the question before was left alone"
            holds = exchange.code is None
            yield observe("MR-12", holds, asked, exchange, expected=expected, observed=exchange)
        if wants_input(exchange):
            left[name] = exchange


@check("The server sends no requests", requirements=("BASE-32", "MR-01"), everywhere=True)
def judge_only_clients_ask(trace: Trace) -> Iterator[Observation]:
    # On a connection with a handshake the rules of its revision hold, and there servers may ask.
    greeted = {one.request.frame.connection for one in trace.exchanges("initialize")}
    for message in trace.received:
        if message.frame.connection in greeted:
            continue
        asks = message.shape is Shape.REQUEST
        yield observe("BASE-32", not asks, message, expected="no request", observed=message)
        if asks and message.method in ASKING_METHODS:
            expected = "the question in an `input_required` result"
            yield observe("MR-01", False, message, expected=expected, observed=message)
    for exchange in filter(wants_input, trace.exchanges()):
        yield observe("MR-01", True, exchange, expected="questions in a result", observed=exchange)


RETIRED: Final = (RESOURCE_NOT_FOUND, URL_REQUIRED)


@check("Retired error codes are not used", requirements=("BASE-24",), everywhere=True)
def judge_retired_codes(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.code is not None and is_of_revision(exchange, trace.revision):
            holds = exchange.code not in RETIRED
            yield observe("BASE-24", holds, exchange, expected="a code of this revision", observed=exchange)


# --- what the checks must catch


@on_reply("a question may be cached", breaks="CA-02", scenario="stateless.asking")
def hints_on_questions(reply: Json, context: FaultContext) -> Json:
    if reply.get("result", {}).get("resultType") == "input_required":
        reply["result"] |= {"ttlMs": 60_000, "cacheScope": "private"}
    return reply


@on_request("capabilities of earlier requests are taken to hold", breaks="META-09")
def capabilities_remembered(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if CAPABILITIES_KEY in meta:
        context.memory.update(meta[CAPABILITIES_KEY])
        meta[CAPABILITIES_KEY] = dict(context.memory)
    return message


@on_reply("`resources/list` is answered with a question", breaks="MR-02", scenario="stateless.lists")
def asks_in_a_list(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/list":
        return reply
    result = {"resultType": "input_required", "requestState": "which folder?"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


PLACE = "where the questions go"


@on_reply("two questions have the same key", breaks="MR-03", scenario="stateless.asking")
def key_twice(reply: Json, context: FaultContext) -> Json | bytes:
    asked = reply.get("result", {}).get("inputRequests")
    if not asked:
        return reply
    text = json.dumps({**reply, "result": {**reply["result"], "inputRequests": PLACE}})
    member = json.dumps(asked)[1:-1]
    return text.replace(json.dumps(PLACE), f"{{{member}, {member}}}").encode()


@on_reply("a question is a method of the server's own", breaks="MR-04", scenario="stateless.asking")
def asks_something_else(reply: Json, context: FaultContext) -> Json:
    for asked in reply.get("result", {}).get("inputRequests", {}).values():
        asked["method"] = "user/confirm"
    return reply


@on_reply(
    "a result wants input and has neither questions nor state", breaks="MR-05", scenario="stateless.asking"
)
def asks_nothing(reply: Json, context: FaultContext) -> Json:
    for key in ("inputRequests", "requestState"):
        if reply.get("result", {}).get("resultType") == "input_required":
            reply["result"].pop(key, None)
    return reply


@on_reply("a client that declares nothing is asked for its roots", breaks="MR-06")
def asks_anybody(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") != MISSING_CAPABILITY:
        return reply
    result = {"resultType": "input_required", "inputRequests": {"roots": {"method": "roots/list"}}}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


@on_reply("a missing capability is an internal error", breaks="META-10")
def missing_capability_internal(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        reply["error"] = {"code": INTERNAL_ERROR, "message": "Internal error"}
    return reply


@on_reply("`requiredCapabilities` is a list of names", breaks="META-10")
def missing_capability_names(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        data = reply["error"]["data"]
        data["requiredCapabilities"] = list(data["requiredCapabilities"])
    return reply


@on_response("a missing capability gets status 200", breaks="META-10")
def missing_capability_ok(response: Response, context: FaultContext) -> None:
    if context.method == "tools/call" and response.status == 400:
        response.status = 200


def remember(reply: Json, context: FaultContext) -> Json:
    waits = reply.get("result", {}).get("resultType") == "input_required"
    if context.method == "tools/call":
        context.memory[context.params.get("name", "")] = waits
    return reply


@on_request(
    "a tool is busy until its question is answered",
    breaks="MR-12",
    scenario="stateless.asking",
    reply=remember,
)
def waits_for_answers(message: Json, context: FaultContext) -> Json | LocalAnswer:
    params = params_of(message)
    if not context.memory.get(params.get("name", "")) or "inputResponses" in params:
        return message
    error = {"code": INVALID_REQUEST, "message": "waiting for input"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_reply("the client is pinged", breaks="BASE-32", transports=STDIO_ONLY, scenario="stateless.discovery")
def pings(reply: Json, context: FaultContext) -> list[Json]:
    ping = {"jsonrpc": "2.0", "id": "are-you-there", "method": "ping"}
    return [ping, reply] if context.method == "tools/list" else [reply]


FORM = {"message": "Who are you?", "requestedSchema": {"type": "object", "properties": {}}}


@on_reply(
    "the user is asked by a request", breaks="MR-01", transports=STDIO_ONLY, scenario="stateless.asking"
)
def elicits_by_request(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("result", {}).get("resultType") != "input_required":
        return [reply]
    return [{"jsonrpc": "2.0", "id": "asks-1", "method": ELICIT, "params": FORM}, reply]


@on_reply("a question is asked with -32042, as it was before", breaks="BASE-24", scenario="stateless.asking")
def url_required(reply: Json, context: FaultContext) -> Json:
    if reply.get("result", {}).get("resultType") != "input_required":
        return reply
    error = {"code": URL_REQUIRED, "message": "URL elicitation required", "data": {"elicitations": []}}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
