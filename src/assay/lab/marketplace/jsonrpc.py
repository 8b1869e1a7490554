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
from assay.lab.harness.driver.choice import NOWHERE
from assay.lab.harness.driver.message_meta import VERSION_KEY, declared
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.safe_request import errands
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
from .lists import LISTS, SERVER, Listed

AREA = "jrpc"
"""As ids have it."""
PROBE: Final = "cause"
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
    """The codes that fit; none for a cause that nobody knows."""
    if cause == NO_RESOURCE:
        # Where a revision has a code of its own for it, that is a SHOULD: the usual one is no fault.
        return frozenset({revision.resource_not_found, error.INVALID_PARAMS})
    found = {_CODES[cause]} if cause in _CODES else set()
    # A parameter that is left out is also one that its header does not repeat.
    headed = transport == Transport.HTTP and revision.opening is Opening.PER_REQUEST
    return frozenset(found | ({error.HEADER_MISMATCH} if headed and cause == BAD_PARAMS else set()))


# --- what is asked


NEVER = "1999-12-31"
"""A version that no server has."""


class Case(Struct, frozen=True):
    cause: str
    method: str
    params: dict[str, Any] = {}
    headers: dict[str, str] = {}


@scenario("Errors by their causes", exercises=("jrpc.codes",), transports=BOTH)
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


@scenario("Lists that are read twice", exercises=("jrpc.drift",), needs=(A_LIST,), transports=BOTH)
async def drive_drift(stage: Stage) -> None:
    peer = await stage.open()
    # A change that is announced is no drift: so the announcement must have a way to us.
    await listen(stage, peer, *_announced(stage))
    await _read(stage, peer)
    for errand in errands(stage.facts):
        await errand.ask(peer)
    await _read(stage, peer)


def _announced(stage: Stage) -> list[str]:
    areas = dict.fromkeys(one.capability for one in LISTS)
    return [f"{area}ListChanged" for area in areas if stage.facts.declares(area, "listChanged")]


async def _read(stage: Stage, peer: Peer) -> None:
    for one in LISTS:
        if stage.facts.declares(one.capability):
            await peer.pages(one.method, one.key)


IDS = (0, -1, 7, 2**53 - 1, "", "7", "007", "null", "Grüße, 世界 🦊", "a" * 300)
NULL_ID = "null id"
AT_ONCE = "at once"
"""Names of probes."""
ROUNDS = 3


@scenario("Ids of every kind", exercises=("jrpc.ids", "jrpc.null-id", "jrpc.at-once"), transports=BOTH)
async def drive_ids(stage: Stage) -> None:
    peer = await stage.open()
    for one in IDS:
        await peer.request(stage.plain, request_id=one)
    async with peer.probe(NULL_ID):
        await peer.offer({**plain_request(stage, ""), "id": None})
    methods = [one.method for one in LISTS if stage.facts.declares(one.capability)]
    async with peer.probe(AT_ONCE):
        sent = [
            await peer.start(method, request_id=f"{method} {number}")
            for number in range(ROUNDS)
            for method in (stage.plain, *methods)
        ]
        for pending in sent:
            await peer.answer(pending)


NOTIFICATION = "notification"


@scenario("Notifications of any kind", exercises=("jrpc.notifications",), transports=BOTH)
async def drive_notifications(stage: Stage) -> None:
    peer = await stage.open()
    nothing = declared(stage.revision, {}, {})
    sent = {
        "notifications/no-such-notification": {"of": "the lab"},
        "notifications/cancelled": {"requestId": "never sent", "reason": "to see who answers"},
        "tools/list": nothing,
        stage.plain: nothing,
    }
    for method, params in sent.items():
        async with peer.probe(NOTIFICATION, what=method):
            await peer.notify(method, params)


# --- how it is judged


CODES = "CONF-JRPC-02.codes"


@profile_check("Errors have the codes of their causes", requirements=(CODES,))
def judge_codes(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(PROBE):
        why = f"{probe.info.get('cause')}"
        codes = codes_for(why, trace.transport, trace.revision)
        if codes:
            answer = next(iter(probe.answers), None)
            asked = next((one.method for one in probe.sent), "")
            expected = f"error {' or '.join(map(str, sorted(codes)))} for {why} in {asked}"
            right = answer is not None and type(answer.code) is int and answer.code in codes
            yield observe(CODES, right, probe, expected=expected, observed=answer or "no answer")


DRIFT = "CONF-JRPC-02.drift"


@profile_check("Lists do not drift", requirements=(DRIFT,))
def judge_drift(trace: Trace) -> Iterator[Observation]:
    announced = {one.method for one in trace.received}
    for listed in LISTS:
        readings = [one for one in listings(trace, listed.method, listed.key) if one.complete]
        for before, after in pairwise(readings):
            changed = _changed(listed, before, after)
            # When it was announced is left open: the announcement may come on a stream of its own.
            if not changed or listed.announced not in announced:
                expected = f"the same answer to {listed.method}, or {listed.announced}"
                observed = ", ".join(changed) or "the same"
                yield observe(DRIFT, not changed, before, after, expected=expected, observed=observed)


def _changed(listed: Listed, before: Listing, after: Listing) -> list[str]:
    """What differs, in words; the order of items does not."""
    first, second = _definitions(listed, before), _definitions(listed, after)
    found = [f"{name} is gone" for name in first if name not in second]
    found += [f"{name} is new" for name in second if name not in first]
    return found + [f"{name} has changed" for name in first if second.get(name, first[name]) != first[name]]


def _definitions(listed: Listed, reading: Listing) -> dict[str, bytes]:
    return {
        f"{item.get(listed.name)}": _canonical({key: item.get(key) for key in listed.fixed})
        for item in reading.items
    }


def _canonical(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


ECHO = "CONF-JRPC-02.id-echo"


@profile_check("Ids come back as they were sent", requirements=(ECHO,))
def judge_ids(trace: Trace) -> Iterator[Observation]:
    waiting = [one for one in trace.exchanges() if one.answer is None]
    for exchange in trace.exchanges():
        if exchange.answers and not names_nothing(exchange.request):
            # Two under one id, where another request got none: the second was meant for that one.
            count = len(exchange.answers)
            expected = f"one response with id {exchange.request.id!r}{_told(waiting)}"
            evidence = (exchange,) if count == 1 else (exchange, *waiting)
            yield observe(ECHO, count == 1, *evidence, expected=expected, observed=f"{count} responses")
    strays = [one for one in trace.strays if one.shape is not Shape.ERROR]
    for stray in (*strays, *unexplained_errors(trace)):
        expected = f"a response with the id of its request{_told(waiting)}"
        yield observe(ECHO, False, *waiting, stray, expected=expected, observed=f"id {stray.id!r}")


def _told(waiting: list[Exchange]) -> str:
    ids = ", ".join(repr(one.request.id) for one in waiting)
    return f"; without one: {ids}" if ids else ""


SILENT = "CONF-JRPC-02.notifications"


@profile_check("Notifications are not answered", requirements=(SILENT,))
def judge_notifications(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("notification"):
        answers = [one for one in probe.answers if not _is_refusal(trace, one)]
        expected = f"no response to the notification {probe.info.get('what')}"
        yield observe(SILENT, not answers, probe, expected=expected, observed=next(iter(answers), "none"))


def _is_refusal(trace: Trace, answer: Message) -> bool:
    """HTTP refuses what it cannot accept with a status, and may explain that in an error without an id."""
    nameless = answer.shape is Shape.ERROR and names_nothing(answer)
    return nameless and trace.status_of(answer) >= 400


NULL = "CONF-JRPC-02.id-null"


@profile_check("A null id is not served", requirements=(NULL,))
def judge_null_id(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("null id"):
        served = [one for one in probe.answers if one.shape is Shape.RESULT]
        expected = "an error, or no answer, to a request with the id null"
        observed = served[0] if served else next(iter(probe.answers), "no answer")
        yield observe(NULL, not served, probe, expected=expected, observed=observed)


ORDER = "CONF-JRPC-02.order"
KEYS = {one.method: one.key for one in LISTS}


@profile_check("Requests at once are told apart", requirements=(ORDER,))
def judge_at_once(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("at once"):
        sent = {one.frame.n for one in probe.sent}
        for exchange in trace.exchanges():
            if exchange.request.frame.n in sent:
                name = exchange.request.id
                expected = f"one answer with id {name!r}, to {exchange.method}"
                yield observe(
                    ORDER, _is_right(exchange), exchange, expected=expected, observed=_at_once_told(exchange)
                )


def _is_right(exchange: Exchange) -> bool:
    """Once, and with its own result: lists are told by what they hold, and others by not holding it."""
    if len(exchange.answers) != 1:
        return False
    if exchange.result is None:
        return True
    own = KEYS.get(exchange.method)
    return {own} - {None} == exchange.result.keys() & set(KEYS.values())


def _at_once_told(exchange: Exchange) -> str:
    return " and ".join(map(str, exchange.answers)) or "no answer"


# --- what the checks must catch


@on_reply("every error has the code -32603", breaks="CONF-JRPC-02.codes")
def internal_codes(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    return {**reply, "error": {**reply["error"], "code": INTERNAL_ERROR}}


@on_reply("a missing resource gets the code of a fault inside", breaks="CONF-JRPC-02.codes")
def resource_code(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "uri" in context.params and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


SEEN = "seen"


@on_result(
    "the schemas of tools change from reading to reading",
    breaks="CONF-JRPC-02.drift",
    server=SERVER,
    method="tools/list",
)
def drifting_schema(result: Json, context: FaultContext) -> None:
    context.memory[SEEN] = context.memory.get(SEEN, 0) + 1
    for tool in result["tools"]:
        tool["inputSchema"].setdefault("properties", {})[f"added{context.memory[SEEN]}"] = {}


@on_result(
    "a prompt is gone, unannounced",
    breaks="CONF-JRPC-02.drift",
    server=SERVER,
    window=newest_of_each_kind,
    method="prompts/list",
)
def vanishing_prompt(result: Json, context: FaultContext) -> None:
    if context.memory.get(SEEN):
        result["prompts"] = result["prompts"][1:]
    context.memory[SEEN] = True


@on_reply("an id of digits comes back as a number", breaks="CONF-JRPC-02.id-echo", window=newest_of_each_kind)
def id_as_number(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": int(name)} if isinstance(name, str) and name.isdecimal() else reply


@on_reply("a numeric id comes back as a string", breaks="CONF-JRPC-02.id-echo")
def id_as_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": str(reply["id"])} if isinstance(reply.get("id"), int) else reply


@on_request("a notification is answered with an empty result", breaks="CONF-JRPC-02.notifications")
def answers_notifications(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message or message.get("method") == "notifications/initialized":
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "result": {}}])


@on_request(
    "a request without an id is served", breaks="CONF-JRPC-02.notifications", window=newest_of_each_kind
)
def serves_without_id(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message or "method" not in message or message["method"].startswith("notifications/"):
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "result": {}}])


@on_request("a request with the id null is served", breaks="CONF-JRPC-02.id-null")
def serves_null_id(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id", 0) is not None:
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "result": {}}])


HELD = "held"
LISTED = "tools/list 0"
"""The id of the first of several requests for a list."""


@on_reply("two answers trade places", breaks="CONF-JRPC-02.order", transports=STDIO_ONLY)
def answers_trade_places(reply: Json, context: FaultContext) -> list[Json]:
    held = context.memory.pop(HELD, None)
    if reply.get("id") == LISTED:
        context.memory[HELD] = reply
        return []
    if held is None:
        return [reply]
    return [{**reply, "id": held["id"]}, {**held, "id": reply["id"]}]


@on_reply("every request is answered twice", breaks="CONF-JRPC-02.order")
def answers_twice(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if context.request is not None else [reply]
