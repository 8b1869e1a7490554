"""JSON-RPC rules of the profile: ids, codes, notifications, stable lists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    observe,
    on_reply,
    on_request,
    on_result,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, safe_requests_for
from assay.lab.harness.driver.message_meta import VERSION_KEY, declared
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import declares, either
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.trace.unexplained_error import names_nothing, unexplained_errors
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.suite.subscription import listen
from assay.model import error
from assay.model.error import INTERNAL_ERROR
from assay.revisions.revision import Opening, Revision

from .bad_message import plain_request
from .declaration import BOTH, profile_check
from .lists import LISTS, SERVER, ListMethod

AREA = "jrpc"  # in ids
PROBE: Final = "cause"
# Traces contain the causes: a reworded one would not be recognised in stored traces.
UNKNOWN_METHOD: Final = "an unknown method"
BAD_PARAMS: Final = "parameters that do not fit"
NO_RESOURCE: Final = "a resource that is not there"
UNKNOWN_VERSION: Final = "an unknown version"
OTHER_HEADER: Final = "a header that does not repeat the body"
_CODES: Final = {
    UNKNOWN_METHOD: error.METHOD_NOT_FOUND,
    BAD_PARAMS: error.INVALID_PARAMS,
    UNKNOWN_VERSION: error.UNSUPPORTED_VERSION,
    OTHER_HEADER: error.HEADER_MISMATCH,
}


def codes_for(cause: str, transport: str, revision: Revision) -> frozenset[int]:
    """The codes that fit; empty for an unknown cause."""
    if cause == NO_RESOURCE:
        # Revisions that have a special code for it say SHOULD, so the general one is not a fault.
        return frozenset({revision.resource_not_found, error.INVALID_PARAMS})
    codes = {_CODES[cause]} if cause in _CODES else set()
    # A missing parameter may also be reported as a header that does not match it.
    mirrored = transport == Transport.HTTP and revision.opening is Opening.PER_REQUEST
    return frozenset(codes | ({error.HEADER_MISMATCH} if mirrored and cause == BAD_PARAMS else set()))


# --- what is asked


NEVER: Final = "1999-12-31"
"""A version that no server supports."""


class Case(Struct, frozen=True):
    cause: str
    method: str
    params: dict[str, Any] = {}
    headers: dict[str, str] = {}


@scenario("Send requests that fail for different causes", exercises=("jrpc.codes",), transports=BOTH)
async def drive_codes(stage: Stage) -> None:
    peer = await stage.open()
    for case in _cases(stage):
        async with peer.probe(PROBE, cause=case.cause):
            await peer.request(case.method, case.params, headers=case.headers)


def _cases(stage: Stage) -> Iterator[Case]:
    facts = stage.facts
    yield Case(UNKNOWN_METHOD, "no/such/method")
    if facts.declares("tools"):
        yield Case(BAD_PARAMS, "tools/call", {"arguments": {}})
    if facts.declares("prompts"):
        yield Case(BAD_PARAMS, "prompts/get", {"name": "no-such-prompt-of-the-lab"})
    if facts.declares("resources"):
        yield Case(BAD_PARAMS, "resources/read")
        yield Case(NO_RESOURCE, "resources/read", {"uri": NOWHERE})
    if stage.revision.opening is Opening.PER_REQUEST:
        yield Case(UNKNOWN_VERSION, stage.plain, {"_meta": {VERSION_KEY: NEVER}})
        if stage.transport is Transport.HTTP:
            yield Case(OTHER_HEADER, stage.plain, headers={"Mcp-Method": "tools/list"})


A_LIST = either(declares("tools"), either(declares("prompts"), declares("resources")))


@scenario("Read every list twice", exercises=("jrpc.drift",), needs=(A_LIST,), transports=BOTH)
async def drive_drift(stage: Stage) -> None:
    peer = await stage.open()
    # An announced change is not a drift, so announcements must be able to reach us.
    await listen(stage, peer, *_announced(stage))
    await _read(stage, peer)
    for request in safe_requests_for(stage.facts):
        await request.ask(peer)
    await _read(stage, peer)


def _announced(stage: Stage) -> list[str]:
    capabilities = dict.fromkeys(listed.capability for listed in LISTS)
    return [f"{name}ListChanged" for name in capabilities if stage.facts.declares(name, "listChanged")]


async def _read(stage: Stage, peer: Peer) -> None:
    for listed in LISTS:
        if stage.facts.declares(listed.capability):
            await peer.pages(listed.method, listed.key)


IDS: Final = (0, -1, 7, 2**53 - 1, "", "7", "007", "null", "Grüße, 世界 🦊", "a" * 300)
NULL_ID: Final = "null id"
AT_ONCE: Final = "at once"
NOTIFICATION: Final = "notification"
"""Names of probes."""
ROUNDS: Final = 3


@scenario(
    "Send ids of every kind, and many requests at once",
    exercises=("jrpc.ids", "jrpc.null-id", "jrpc.at-once"),
    transports=BOTH,
)
async def drive_ids(stage: Stage) -> None:
    peer = await stage.open()
    for request_id in IDS:
        await peer.request(stage.plain, request_id=request_id)
    async with peer.probe(NULL_ID):
        await peer.offer({**plain_request(stage, ""), "id": None})
    methods = [listed.method for listed in LISTS if stage.facts.declares(listed.capability)]
    async with peer.probe(AT_ONCE):
        requests = [
            await peer.start(method, request_id=f"{method} {number}")
            for number in range(ROUNDS)
            for method in (stage.plain, *methods)
        ]
        for pending in requests:
            await peer.answer(pending)


@scenario("Send notifications of any kind", exercises=("jrpc.notifications",), transports=BOTH)
async def drive_notifications(stage: Stage) -> None:
    peer = await stage.open()
    empty = declared(stage.revision, {}, {})
    notifications = {
        "notifications/no-such-notification": {"of": "the lab"},
        "notifications/cancelled": {"requestId": "never sent", "reason": "to see whether it is answered"},
        "tools/list": empty,
        stage.plain: empty,
    }
    for method, params in notifications.items():
        async with peer.probe(NOTIFICATION, what=method):
            await peer.notify(method, params)


# --- how it is judged


@profile_check("Errors have the codes of their causes", requirements=("CONF-JRPC-02.codes",))
def judge_codes(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(PROBE):
        cause = f"{probe.info.get('cause')}"
        codes = codes_for(cause, trace.transport, trace.revision)
        if codes:
            answer = next(iter(probe.answers), None)
            method = next((message.method for message in probe.sent), "")
            expected = f"error {' or '.join(map(str, sorted(codes)))} for {cause} in {method}"
            fits = answer is not None and type(answer.code) is int and answer.code in codes
            observed = answer or "no answer"
            yield observe("CONF-JRPC-02.codes", fits, probe, expected=expected, observed=observed)


@profile_check("Lists change only with an announcement", requirements=("CONF-JRPC-02.drift",))
def judge_drift(trace: Trace) -> Iterator[Observation]:
    announced = {message.method for message in trace.received}
    for listed in LISTS:
        readings = [listing for listing in listings(trace, listed.method, listed.key) if listing.complete]
        for before, after in pairwise(readings):
            changed = _changed(listed, before, after)
            # The time of the announcement does not matter: it may arrive on a separate stream.
            if not changed or listed.announced not in announced:
                expected = f"the same answer to {listed.method}, or {listed.announced}"
                observed = ", ".join(changed) or "the same"
                holds = not changed
                yield observe(
                    "CONF-JRPC-02.drift", holds, before, after, expected=expected, observed=observed
                )


def _changed(listed: ListMethod, before: Listing, after: Listing) -> list[str]:
    """The differences in words; the order of items is not one."""
    first, second = _definitions(listed, before), _definitions(listed, after)
    changes = [f"{name} is gone" for name in first if name not in second]
    changes += [f"{name} is new" for name in second if name not in first]
    return changes + [f"{name} has changed" for name in first if second.get(name, first[name]) != first[name]]


def _definitions(listed: ListMethod, reading: Listing) -> dict[str, bytes]:
    return {
        f"{item.get(listed.name)}": msgspec.json.encode(
            {key: item.get(key) for key in listed.fixed}, order="deterministic"
        )
        for item in reading.items
    }


ECHO: Final = "CONF-JRPC-02.id-echo"


@profile_check("Responses have the ids of their requests", requirements=(ECHO,))
def judge_ids(trace: Trace) -> Iterator[Observation]:
    unanswered = [exchange for exchange in trace.exchanges() if exchange.answer is None]
    for exchange in trace.exchanges():
        if exchange.answers and not names_nothing(exchange.request):
            # With two responses to one id and none to another, the second was meant for the other.
            count = len(exchange.answers)
            expected = f"one response with id {exchange.request.id!r}{_unanswered_ids(unanswered)}"
            evidence = (exchange,) if count == 1 else (exchange, *unanswered)
            yield observe(ECHO, count == 1, *evidence, expected=expected, observed=f"{count} responses")
    strays = [message for message in trace.strays if message.shape is not Shape.ERROR]
    for stray in (*strays, *unexplained_errors(trace)):
        expected = f"a response with the id of its request{_unanswered_ids(unanswered)}"
        yield observe(ECHO, False, *unanswered, stray, expected=expected, observed=f"id {stray.id!r}")


def _unanswered_ids(exchanges: list[Exchange]) -> str:
    ids = ", ".join(repr(exchange.request.id) for exchange in exchanges)
    return f"; unanswered: {ids}" if ids else ""


@profile_check("Notifications get no response", requirements=("CONF-JRPC-02.notifications",))
def judge_notifications(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(NOTIFICATION):
        answers = [message for message in probe.answers if not _is_refusal(trace, message)]
        expected = f"no response to the notification {probe.info.get('what')}"
        observed = next(iter(answers), "none")
        yield observe("CONF-JRPC-02.notifications", not answers, probe, expected=expected, observed=observed)


def _is_refusal(trace: Trace, answer: Message) -> bool:
    """HTTP refuses a notification by its status, and may explain that in an error without an id."""
    nameless = answer.shape is Shape.ERROR and names_nothing(answer)
    return nameless and trace.status_of(answer) >= 400


@profile_check("A request with the id null is not served", requirements=("CONF-JRPC-02.id-null",))
def judge_null_id(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(NULL_ID):
        served = [message for message in probe.answers if message.shape is Shape.RESULT]
        expected = "an error, or no answer, to a request with the id null"
        observed = served[0] if served else next(iter(probe.answers), "no answer")
        yield observe("CONF-JRPC-02.id-null", not served, probe, expected=expected, observed=observed)


ORDER: Final = "CONF-JRPC-02.order"
KEYS: Final = {listed.method: listed.key for listed in LISTS}


@profile_check("Concurrent requests get their own answers", requirements=(ORDER,))
def judge_at_once(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(AT_ONCE):
        numbers = {message.frame.n for message in probe.sent}
        for exchange in trace.exchanges():
            if exchange.request.frame.n in numbers:
                expected = f"one answer with id {exchange.request.id!r}, to {exchange.method}"
                observed = " and ".join(map(str, exchange.answers)) or "no answer"
                yield observe(
                    ORDER, _has_own_answer(exchange), exchange, expected=expected, observed=observed
                )


def _has_own_answer(exchange: Exchange) -> bool:
    """Whether there is one answer with the right result: lists hold their items, other results hold none."""
    if len(exchange.answers) != 1:
        return False
    if exchange.result is None:
        return True
    own = KEYS.get(exchange.method)
    return {own} - {None} == exchange.result.keys() & set(KEYS.values())


# --- what the checks must catch


@on_reply("uses the code -32603 for every error", breaks="CONF-JRPC-02.codes")
def internal_codes(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    return {**reply, "error": {**reply["error"], "code": INTERNAL_ERROR}}


@on_reply("uses the code -32603 for a missing resource", breaks="CONF-JRPC-02.codes")
def resource_code(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "uri" in context.params and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_result(
    "changes the schemas of tools with every list",
    breaks="CONF-JRPC-02.drift",
    server=SERVER,
    method="tools/list",
)
def drifting_schema(result: Json, context: FaultContext) -> None:
    count = context.memory["lists"] = context.memory.get("lists", 0) + 1
    for tool in result["tools"]:
        tool["inputSchema"].setdefault("properties", {})[f"added{count}"] = {}


@on_result(
    "drops a prompt without an announcement",
    breaks="CONF-JRPC-02.drift",
    server=SERVER,
    window=newest_of_each_kind,
    method="prompts/list",
)
def vanishing_prompt(result: Json, context: FaultContext) -> None:
    if context.memory.get("listed"):
        result["prompts"] = result["prompts"][1:]
    context.memory["listed"] = True


@on_reply(
    "returns an id of digits as a number",
    breaks="CONF-JRPC-02.id-echo",
    window=newest_of_each_kind,
    silent=True,
)
def id_as_number(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": int(name)} if isinstance(name, str) and name.isdecimal() else reply


@on_reply("returns a numeric id as a string", breaks="CONF-JRPC-02.id-echo", silent=True)
def id_as_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": str(reply["id"])} if isinstance(reply.get("id"), int) else reply


@on_request("answers a notification with an empty result", breaks="CONF-JRPC-02.notifications")
def answers_notifications(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message or message.get("method") == "notifications/initialized":
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "result": {}}])


@on_request("serves a request without an id", breaks="CONF-JRPC-02.notifications", window=newest_of_each_kind)
def serves_without_id(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message or "method" not in message or message["method"].startswith("notifications/"):
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "result": {}}])


@on_request("serves a request with the id null", breaks="CONF-JRPC-02.id-null")
def serves_null_id(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id", 0) is not None:
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "result": {}}])


@on_reply("swaps two answers", breaks="CONF-JRPC-02.order", transports=STDIO_ONLY)
def answers_trade_places(reply: Json, context: FaultContext) -> list[Json]:
    held = context.memory.pop("held", None)
    if reply.get("id") == "tools/list 0":  # the first of several requests for a list
        context.memory["held"] = reply
        return []
    if held is None:
        return [reply]
    return [{**reply, "id": held["id"]}, {**held, "id": reply["id"]}]


@on_reply("answers every request twice", breaks="CONF-JRPC-02.order")
def answers_twice(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if context.request is not None else [reply]
