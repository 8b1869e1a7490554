"""The handshake: its result, version negotiation, requests before it is complete, pings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_request,
    on_result,
    scenario,
)
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, questions
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.subject.discovery import DISCOVERY
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.shape import is_server_message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.model.error import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from assay.revisions.registry import BY_DATE, HANDSHAKE, REVISIONS
from assay.revisions.revision import Asking, Opening

# --- what is asked


# With these capabilities, a server has every reason to send requests early.
CAPABILITIES: Final = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}


@scenario(
    "Delay `notifications/initialized`",
    exercises=(
        "lifecycle.first-interaction",
        "lifecycle.early-request",
        "lifecycle.initialize-result",
        "lifecycle.ping",
    ),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
    official="server-initialize",
)
async def drive_opening(stage: Stage) -> None:
    peer = await stage.connect()
    peer.capabilities = CAPABILITIES
    await peer.initialize()
    if stage.transport is Transport.HTTP:
        await peer.http.listen()
    await peer.sentinel()
    await peer.notify("notifications/initialized")
    peer.is_open = True


@scenario(
    "Request supported and unknown versions",
    exercises=("lifecycle.initialize-result", "lifecycle.version-echoed", "lifecycle.version-offered"),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive_negotiation(stage: Stage) -> None:
    await stage.open()
    offers = [await _request_version(stage, version) for version in ("1999-12-31", "no version at all")]
    # Whether the server supports the version that it offered, and any newer one.
    dates = [revision.date for revision in HANDSHAKE]
    for offer in dict.fromkeys(offers):
        newer = dates[dates.index(offer) + 1 :] if offer in dates else []
        for version in (offer, *newer) if offer else ():
            await _request_version(stage, version)


async def _request_version(stage: Stage, version: str) -> str | None:
    peer = await stage.connect()
    offer = (await peer.initialize(protocolVersion=version)).result.get("protocolVersion")
    await peer.close()
    return offer if isinstance(offer, str) else None


@scenario("Send pings", window=lambda revision: "ping" in revision.requests, official="ping")
async def drive_ping(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", request_id="a ping named by text")


# --- how it is judged


# Messages that are allowed before the session is open, or that may belong to `initialize`.
EARLY: Final = frozenset(
    {"ping", "notifications/message", "notifications/progress", "notifications/cancelled"}
)


@check(
    "The handshake is the first interaction",
    requirements={"LIFE-01": "A message came before the reply to `initialize`"},
    everywhere=True,
)
def judge_first_interaction(trace: Trace) -> Iterator[Observation]:
    connections: set[str] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        first = connection not in connections
        connections.add(connection)
        if first and exchange.method == "initialize" and exchange.answer is not None:
            received = _before(trace, connection, exchange.answer)
            early = [message for message in received if message.method and message.method not in EARLY]
            expected = "only pings and log messages before the reply to `initialize`"
            observed = ", ".join(map(str, early))
            yield observe("LIFE-01", not early, *early, exchange, expected=expected, observed=observed)


def _before(trace: Trace, connection: str, end: Message) -> list[Message]:
    return [
        message
        for message in trace.received
        if message.frame.connection == connection and message.frame.n < end.frame.n
    ]


@check("No requests come before the client is ready", requirements=("LIFE-06",), everywhere=True)
def judge_early_request(trace: Trace) -> Iterator[Observation]:
    ready: dict[str, Message] = {}
    for message in trace.messages:
        if not message.by_subject and message.method == "notifications/initialized":
            ready.setdefault(message.frame.connection, message)
    for connection, notification in ready.items():
        early = [
            message
            for message in _before(trace, connection, notification)
            if message.shape is Shape.REQUEST and message.method != "ping"
        ]
        expected = "no request but `ping` before `notifications/initialized`"
        observed = ", ".join(map(str, early))
        yield observe("LIFE-06", not early, *early, notification, expected=expected, observed=observed)


FIELDS: Final = {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}


@check(
    "The result of `initialize` has version, capabilities and identity",
    requirements=("LIFE-03",),
    everywhere=True,
)
def judge_initialize_result(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("initialize"):
        if exchange.result is not None:
            invalid = list(_invalid_fields(exchange.result))
            expected = "`protocolVersion`, `capabilities` and `serverInfo` with name and version"
            observed = f"missing or of the wrong type: {', '.join(invalid)}"
            yield observe("LIFE-03", not invalid, exchange, expected=expected, observed=observed)


def _invalid_fields(result: dict[str, Any]) -> Iterator[str]:
    yield from (name for name, kind in FIELDS.items() if not isinstance(result.get(name), kind))
    server = result.get("serverInfo")
    if isinstance(server, dict):
        yield from (
            f"serverInfo.{name}" for name in ("name", "version") if not isinstance(server.get(name), str)
        )


CLIENT_CAPABILITIES: Final = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
SERVER_CAPABILITIES: Final = {
    "notifications/message": ("logging",),
    "notifications/tools/list_changed": ("tools", "listChanged"),
    "notifications/prompts/list_changed": ("prompts", "listChanged"),
    "notifications/resources/list_changed": ("resources", "listChanged"),
    "notifications/resources/updated": ("resources", "subscribe"),
}


@check(
    "Only negotiated capabilities are used",
    requirements={"LIFE-14": "A capability was used that was not negotiated"},
    everywhere=True,
)
def judge_negotiated_only(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, *CLIENT_CAPABILITIES):
        capability = CLIENT_CAPABILITIES[question.method]
        yield observe(
            "LIFE-14",
            question.declared(capability) is not None,
            question,
            expected=f"no {question.method} to a client that did not declare `{capability}`",
            observed=question.message,
        )
    declared = declaration(trace)
    for message in trace.received:
        path = SERVER_CAPABILITIES.get(message.method)
        if path is not None and declared is not None:
            yield observe(
                "LIFE-14",
                declared.has(*path),
                message,
                declared,
                expected=f"no {message.method} from a server that did not declare `{'.'.join(path)}`",
                observed=message,
            )


@check("A supported version is confirmed", requirements=("LIFE-09",), everywhere=True)
def judge_version_echoed(trace: Trace) -> Iterator[Observation]:
    # In a scenario, the server supports the revision of the trace: it has agreed on it in the discovery.
    if trace.header.scenario == DISCOVERY:
        return
    for exchange in trace.exchanges("initialize"):
        if exchange.params.get("protocolVersion") == trace.revision.date and exchange.answer is not None:
            version = (exchange.result or {}).get("protocolVersion")
            yield observe(
                "LIFE-09",
                version == trace.revision.date,
                exchange,
                expected=f"protocolVersion {trace.revision}",
                observed=version or exchange,
            )


AGE: Final = {revision.date: age for age, revision in enumerate(HANDSHAKE)}
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


@check("An unknown version is answered with a supported one", requirements=("LIFE-10", "LIFE-11"))
def judge_version_offered(trace: Trace) -> Iterator[Observation]:
    offers = dict(_offers(trace))
    supported = {version for version, offer in offers.items() if version == offer and version in AGE}
    # Offered versions that the lab does not know are the server's own.
    own = {offer for version, offer in offers.items() if version != offer}
    for exchange in trace.exchanges("initialize"):
        version = exchange.params.get("protocolVersion")
        if not isinstance(version, str) or version in {*BY_DATE, *own} or exchange.answer is None:
            continue
        # Text that is not a date is no version: such a request is invalid, and may be refused as that.
        if exchange.result is None and not DATE.fullmatch(version):
            continue
        offer = (exchange.result or {}).get("protocolVersion")
        # A server must confirm a version that it has offered.
        honest = isinstance(offer, str) and offer != version and offers.get(offer, offer) == offer
        expected = "a result with another version that the server supports"
        yield observe("LIFE-10", honest, exchange, expected=expected, observed=offer or exchange)
        if honest and offer in AGE and supported:
            newest = max(supported, key=AGE.__getitem__)
            expected = f"the newest version that the server supports, {newest}"
            latest = AGE[offer] >= AGE[newest]
            yield observe("LIFE-11", latest, exchange, expected=expected, observed=offer)


def _offers(trace: Trace) -> Iterator[tuple[str, str]]:
    """Requested versions with the version in the result."""
    for exchange in trace.exchanges("initialize"):
        pair = exchange.params.get("protocolVersion"), (exchange.result or {}).get("protocolVersion")
        if isinstance(pair[0], str) and isinstance(pair[1], str):
            yield pair[0], pair[1]


CONTENT: Final = frozenset[str]().union(*(revision.content for revision in REVISIONS))
INPUT_REQUIRED: Final = "input_required"


@check(
    "Messages belong to the negotiated version",
    requirements={"LIFE-13": "A message does not belong to the negotiated version"},
    everywhere=True,
)
def judge_version_respected(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        # Methods that no revision defines are extensions.
        if message.method and any(is_server_message(message, revision) for revision in REVISIONS):
            yield observe(
                "LIFE-13",
                is_server_message(message, trace.revision),
                message,
                expected=f"methods of {trace.revision}",
                observed=message,
            )
    for exchange in trace.exchanges("tools/call", "prompts/get", "resources/read"):
        if exchange.result is not None:
            foreign = sorted({kind for kind in _kinds(exchange) if kind in CONTENT - trace.revision.content})
            foreign += [INPUT_REQUIRED] if _asks_by_result(exchange, trace) else []
            expected = f"content and results of {trace.revision}"
            yield observe("LIFE-13", not foreign, exchange, expected=expected, observed=", ".join(foreign))


def _asks_by_result(exchange: Exchange, trace: Trace) -> bool:
    by_request = trace.revision.asking is Asking.BY_REQUEST
    return by_request and (exchange.result or {}).get("resultType") == INPUT_REQUIRED


def _kinds(exchange: Exchange) -> Iterator[str]:
    blocks = [
        *exchange.objects("content"),
        *(message.get("content") for message in exchange.objects("messages")),
    ]
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(kind, str):
            yield kind


@check(
    "`ping` is answered with an empty result",
    requirements={"PNG-01": "A ping was not answered with an empty result"},
    everywhere=True,
)
def judge_ping(trace: Trace) -> Iterator[Observation]:
    unanswered = [mark.info.get("id") for mark in trace.marks("no answer")]
    for exchange in trace.exchanges("ping"):
        # Batches are judged by `jsonrpc.batches`.
        if exchange.request.place is not None:
            continue
        # HTTP may refuse a request because of a header or a session, before it reads the ping.
        if exchange.head is not None and exchange.head.status >= 400:
            continue
        # Without an answer, it counts only if the driver waited for one.
        if exchange.answer is not None or exchange.request.id in unanswered:
            content = None if exchange.result is None else {**exchange.result, "_meta": None}
            empty = content == {"_meta": None}
            yield observe("PNG-01", empty, exchange, expected="an empty result", observed=exchange)


# --- what the checks must catch


CHANGED: Final = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
ROOTS_REQUEST: Final = {"jsonrpc": "2.0", "id": "roots", "method": "roots/list"}


@on_reply("announces a list before it answers `initialize`", breaks="LIFE-01")
def announces_first(reply: Json, context: FaultContext) -> list[Json]:
    return [CHANGED, reply] if context.method == "initialize" and "result" in reply else [reply]


@on_reply("sends a request before it answers `initialize`", breaks="LIFE-01")
def asks_first(reply: Json, context: FaultContext) -> list[Json]:
    return [ROOTS_REQUEST, reply] if context.method == "initialize" and "result" in reply else [reply]


@on_reply("sends a request before `notifications/initialized`", breaks="LIFE-06")
def asks_at_once(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, ROOTS_REQUEST] if context.method == "initialize" and "result" in reply else [reply]


@on_result("sends `capabilities` as a list", breaks="LIFE-03", method="initialize")
def capabilities_listed(result: Json, context: FaultContext) -> None:
    result["capabilities"] = list(result["capabilities"])


@on_reply("sends a sampling request to a client that did not declare it", breaks="LIFE-14")
def samples_anyway(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    message = {"role": "user", "content": {"type": "text", "text": "Hello?"}}
    params = {"messages": [message], "maxTokens": 10}
    return [{"jsonrpc": "2.0", "id": "sample", "method": "sampling/createMessage", "params": params}, reply]


@on_reply("announces list changes without `listChanged`", breaks="LIFE-14")
def unlisted_changes(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["capabilities"]["tools"] = {}
    return [CHANGED, reply] if context.method == "tools/call" else [reply]


RESULT_EDITS: Final = edited_results(
    "initialize",
    (
        "lifecycle.nameless",
        "sends `serverInfo` without name and version",
        "LIFE-03",
        "serverInfo",
        {"title": "A server"},
    ),
    ("lifecycle.no-server-info", "omits `serverInfo`", "LIFE-03", "serverInfo", ABSENT),
    ("lifecycle.versionless", "omits `protocolVersion`", "LIFE-03", "protocolVersion", ABSENT),
)


@on_reply("refuses a supported version for another reason", breaks="LIFE-09")
def choosy(reply: Json, context: FaultContext) -> Json:
    if context.method != "initialize" or "title" in context.params.get("clientInfo", {}):
        return reply
    return error_reply(reply, INVALID_PARAMS, "clientInfo.title is required")


@on_result("answers a supported version with another one", breaks="LIFE-09", method="initialize")
def own_version(result: Json, context: FaultContext) -> None:
    other = next(revision for revision in HANDSHAKE if revision is not context.revision)
    result["protocolVersion"] = other.date


@on_result("confirms a version that does not exist", breaks="LIFE-10", method="initialize")
def echoes_any_version(result: Json, context: FaultContext) -> None:
    result["protocolVersion"] = context.params.get("protocolVersion")


OFFERED: Final = "2000-01-01"


@on_result("offers a version that it does not support", breaks="LIFE-10", method="initialize")
def offers_what_it_refuses(result: Json, context: FaultContext) -> None:
    if context.params.get("protocolVersion") not in (*BY_DATE, OFFERED):
        result["protocolVersion"] = OFFERED


@on_reply("refuses an unsupported version with an error", breaks="LIFE-10")
def refuses_versions(reply: Json, context: FaultContext) -> Json:
    if context.method != "initialize" or context.params.get("protocolVersion") in BY_DATE:
        return reply
    return error_reply(reply, INVALID_PARAMS, "Unsupported protocol version")


@on_result("offers its oldest version", breaks="LIFE-11", method="initialize")
def offers_oldest(result: Json, context: FaultContext) -> None:
    if context.params.get("protocolVersion") not in BY_DATE:
        result["protocolVersion"] = HANDSHAKE[0].date


@on_result(
    "asks for input in a result, in a revision where servers send requests",
    breaks="LIFE-13",
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
    method="tools/call",
)
def asks_by_result(result: Json, context: FaultContext) -> None:
    result.update({"resultType": "input_required", "inputRequests": {}})


@on_reply("sends a notification that the negotiated revision does not have", breaks="LIFE-13")
def foreign_notification(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    params = {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
    method = "notifications/subscriptions/acknowledged"
    return [{"jsonrpc": "2.0", "method": method, "params": params}, reply]


@on_result(
    "sends a resource link, which the negotiated revision does not have",
    breaks="LIFE-13",
    window=lambda revision: "resource_link" not in revision.content,
    method="tools/call",
)
def future_content(result: Json, context: FaultContext) -> None:
    result.get("content", []).append({"type": "resource_link", "uri": "file:///a", "name": "a"})


@on_reply("never answers `ping`", breaks="PNG-01", transports=STDIO_ONLY, silent=True)
def ignores_ping(reply: Json, context: FaultContext) -> Json | None:
    return None if context.method == "ping" else reply


@on_reply("answers `ping` with -32601", breaks="PNG-01")
def no_ping(reply: Json, context: FaultContext) -> Json:
    return error_reply(reply, METHOD_NOT_FOUND, "Method not found") if context.method == "ping" else reply


@on_request("refuses `ping` before `notifications/initialized`", breaks="PNG-01")
def ping_when_ready(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == "notifications/initialized":
        context.memory["ready"] = True
    if message.get("method") != "ping" or "ready" in context.memory:
        return message
    return LocalAnswer([error_reply(message, INVALID_REQUEST, "not initialized")])


@on_result("answers `ping` with content", breaks="PNG-01", method="ping")
def pong(result: Json, context: FaultContext) -> None:
    result["message"] = "pong"
