"""The handshake: its result, version negotiation, requests before it is complete, pings."""

from __future__ import annotations

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
    observe,
    on_reply,
    on_request,
    on_result,
    scenario,
)
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, questions
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.shape import knows
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.model.error import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from assay.revisions.registry import BY_DATE, HANDSHAKE, REVISIONS
from assay.revisions.revision import Asking, Opening

# --- what is asked


WILLING = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}
"""A client that could be asked anything: a server in a hurry would."""


@scenario(
    "A client that is not ready yet",
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
    peer.capabilities = WILLING
    await peer.initialize()
    if stage.transport is Transport.HTTP:
        await peer.http.listen()
    await peer.sentinel()
    await peer.notify("notifications/initialized")
    peer.greeted = True


UNHEARD_OF = ("1999-12-31", "no version at all")


@scenario(
    "Versions that exist and versions that do not",
    exercises=("lifecycle.initialize-result", "lifecycle.version-echoed", "lifecycle.version-offered"),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive_negotiation(stage: Stage) -> None:
    await stage.open()
    offers = [await _ask_for(stage, version) for version in UNHEARD_OF]
    # Is the offer meant, and is there anything newer that it agrees on?
    dates = [revision.date for revision in HANDSHAKE]
    for offer in dict.fromkeys(offers):
        newer = dates[dates.index(offer) + 1 :] if offer in dates else []
        for version in (offer, *newer) if offer else ():
            await _ask_for(stage, version)


async def _ask_for(stage: Stage, version: str) -> str | None:
    peer = await stage.connect()
    offer = (await peer.initialize(protocolVersion=version)).result.get("protocolVersion")
    await peer.close()
    return offer if isinstance(offer, str) else None


@scenario(
    "Pings",
    exercises=("lifecycle.ping",),
    window=lambda revision: "ping" in revision.requests,
    official="ping",
)
async def drive_ping(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", request_id="a ping named by text")


# --- how it is judged


ALLOWED = frozenset({"ping", "notifications/message", "notifications/progress", "notifications/cancelled"})
"""What the specification lets a server send before a session is open, and what can belong to `initialize`."""


@check("Nothing comes before the handshake", requirements=("LIFE-01",), everywhere=True)
def judge_first_interaction(trace: Trace) -> Iterator[Observation]:
    greeted: set[str] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        first = connection not in greeted
        greeted.add(connection)
        if first and exchange.method == "initialize" and exchange.answer is not None:
            end = exchange.answer.frame.n
            said = [one for one in trace.received if one.frame.connection == connection and one.frame.n < end]
            early = [one for one in said if one.method and one.method not in ALLOWED]
            yield observe(
                "LIFE-01",
                not early,
                *early,
                exchange,
                expected="nothing but pings and logs before the answer to `initialize`",
                observed=", ".join(map(str, early)),
            )


@check("No requests before the client is ready", requirements=("LIFE-06",), everywhere=True)
def judge_early_request(trace: Trace) -> Iterator[Observation]:
    for connection, ready in _ready(trace).items():
        asked = [
            one
            for one in trace.received
            if one.frame.connection == connection
            and one.frame.n < ready.frame.n
            and one.shape is Shape.REQUEST
            and one.method != "ping"
        ]
        yield observe(
            "LIFE-06",
            not asked,
            *asked,
            ready,
            expected="no request but `ping` before `notifications/initialized`",
            observed=", ".join(map(str, asked)),
        )


def _ready(trace: Trace) -> dict[str, Message]:
    """By connection: the first notification with which the driver said that it is ready."""
    said: dict[str, Message] = {}
    for message in trace.messages:
        if not message.by_subject and message.method == "notifications/initialized":
            said.setdefault(message.frame.connection, message)
    return said


FIELDS = {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}
IDENTITY = ("name", "version")


@check(
    "initialize is answered with version, capabilities and identity",
    requirements=("LIFE-03",),
    everywhere=True,
)
def judge_initialize_result(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("initialize"):
        if exchange.result is not None:
            wrong = list(_wrong(exchange.result))
            yield observe(
                "LIFE-03",
                not wrong,
                exchange,
                expected="`protocolVersion`, `capabilities` and `serverInfo` with name and version",
                observed=f"missing or of the wrong type: {', '.join(wrong)}",
            )


def _wrong(result: dict[str, Any]) -> Iterator[str]:
    yield from (name for name, kind in FIELDS.items() if not isinstance(result.get(name), kind))
    server = result.get("serverInfo")
    if isinstance(server, dict):
        yield from (f"serverInfo.{name}" for name in IDENTITY if not isinstance(server.get(name), str))


ASKED = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
ANNOUNCED = {
    "notifications/message": ("logging",),
    "notifications/tools/list_changed": ("tools", "listChanged"),
    "notifications/prompts/list_changed": ("prompts", "listChanged"),
    "notifications/resources/list_changed": ("resources", "listChanged"),
    "notifications/resources/updated": ("resources", "subscribe"),
}


@check("Only negotiated capabilities are used", requirements=("LIFE-14",), everywhere=True)
def judge_negotiated_only(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, *ASKED):
        capability = ASKED[question.method]
        yield observe(
            "LIFE-14",
            question.declared(capability) is not None,
            question,
            expected=f"no {question.method} to a client that did not declare `{capability}`",
            observed=question.message,
        )
    declared = declaration(trace)
    for message in trace.received:
        path = ANNOUNCED.get(message.method)
        if path is not None and declared is not None:
            yield observe(
                "LIFE-14",
                declared.has(*path),
                message,
                declared,
                expected=f"no {message.method} from a server that did not declare `{'.'.join(path)}`",
                observed=message,
            )


@check("A version that the server supports is echoed", requirements=("LIFE-09",))
def judge_version_echoed(trace: Trace) -> Iterator[Observation]:
    """The trace's own revision is one that the server has agreed on before."""
    for exchange in trace.exchanges("initialize"):
        if exchange.params.get("protocolVersion") == trace.revision.date and exchange.answer is not None:
            answered = (exchange.result or {}).get("protocolVersion")
            yield observe(
                "LIFE-09",
                answered == trace.revision.date,
                exchange,
                expected=f"protocolVersion {trace.revision}",
                observed=answered or exchange,
            )


AGE = {revision.date: age for age, revision in enumerate(HANDSHAKE)}


@check("An unknown version is answered with another one", requirements=("LIFE-10", "LIFE-11"))
def judge_version_offered(trace: Trace) -> Iterator[Observation]:
    answered = dict(_answered(trace))
    agreed = {asked for asked, offered in answered.items() if asked == offered and asked in AGE}
    # Versions that we do not know, and that the server offers by itself: they are its own.
    own = {offered for asked, offered in answered.items() if asked != offered}
    for exchange in trace.exchanges("initialize"):
        asked = exchange.params.get("protocolVersion")
        if not isinstance(asked, str) or asked in {*BY_DATE, *own} or exchange.answer is None:
            continue
        offered = (exchange.result or {}).get("protocolVersion")
        # Whoever asks for the version that was offered gets it, if the offer was honest.
        honest = isinstance(offered, str) and offered != asked and answered.get(offered, offered) == offered
        yield observe(
            "LIFE-10",
            honest,
            exchange,
            expected="a result with another version, which the server supports",
            observed=offered or exchange,
        )
        if honest and offered in AGE and agreed:
            newest = max(agreed, key=AGE.__getitem__)
            yield observe(
                "LIFE-11",
                AGE[offered] >= AGE[newest],
                exchange,
                expected=f"the newest version that it agrees on elsewhere, {newest}",
                observed=offered,
            )


def _answered(trace: Trace) -> Iterator[tuple[str, str]]:
    for exchange in trace.exchanges("initialize"):
        pair = exchange.params.get("protocolVersion"), (exchange.result or {}).get("protocolVersion")
        if isinstance(pair[0], str) and isinstance(pair[1], str):
            yield pair[0], pair[1]


CONTENT = frozenset[str]().union(*(revision.content for revision in REVISIONS))
INPUT_REQUIRED = "input_required"


@check("The agreed version is kept to", requirements=("LIFE-13",), everywhere=True)
def judge_version_respected(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        # Methods that no revision has are a server's own business.
        if message.method and any(knows(message, revision) for revision in REVISIONS):
            yield observe(
                "LIFE-13",
                knows(message, trace.revision),
                message,
                expected=f"methods of {trace.revision}",
                observed=message,
            )
    for exchange in trace.exchanges("tools/call", "prompts/get", "resources/read"):
        if exchange.result is not None:
            foreign = sorted({kind for kind in _kinds(exchange) if kind in CONTENT - trace.revision.content})
            foreign += [INPUT_REQUIRED] if _asks_by_result(exchange, trace) else []
            yield observe(
                "LIFE-13",
                not foreign,
                exchange,
                expected=f"content and results of {trace.revision}",
                observed=", ".join(foreign),
            )


def _asks_by_result(exchange: Exchange, trace: Trace) -> bool:
    by_request = trace.revision.asking is Asking.BY_REQUEST
    return by_request and (exchange.result or {}).get("resultType") == INPUT_REQUIRED


def _kinds(exchange: Exchange) -> Iterator[str]:
    blocks = [*exchange.objects("content"), *(one.get("content") for one in exchange.objects("messages"))]
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(kind, str):
            yield kind


@check("ping is answered with an empty result", requirements=("PNG-01",), everywhere=True)
def judge_ping(trace: Trace) -> Iterator[Observation]:
    unanswered = [mark.info.get("id") for mark in trace.marks("no answer")]
    for exchange in trace.exchanges("ping"):
        # Whether a batch is taken at all is judged as such: see `jsonrpc.batches`.
        if exchange.request.place is not None:
            continue
        # HTTP may refuse the request around it, for a header or a session: then no ping was seen.
        if exchange.head is not None and exchange.head.status >= 400:
            continue
        # A scenario may have ended before the answer: only what it waited for in vain counts.
        if exchange.answer is not None or exchange.request.id in unanswered:
            content = None if exchange.result is None else {**exchange.result, "_meta": None}
            yield observe(
                "PNG-01", content == {"_meta": None}, exchange, expected="an empty result", observed=exchange
            )


# --- what the checks must catch


@on_reply("a list is announced before `initialize` is answered", breaks="LIFE-01")
def announces_first(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, reply]
    return [reply]


@on_reply("the client is asked before `initialize` is answered", breaks="LIFE-01")
def asks_first(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        return [{"jsonrpc": "2.0", "id": "curious", "method": "roots/list"}, reply]
    return [reply]


@on_reply("a request comes before `notifications/initialized`", breaks="LIFE-06")
def asks_at_once(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        return [reply, {"jsonrpc": "2.0", "id": "hasty", "method": "roots/list"}]
    return [reply]


@on_result("`capabilities` is a list", breaks="LIFE-03", method="initialize")
def capabilities_listed(result: Json, context: FaultContext) -> None:
    result["capabilities"] = list(result["capabilities"])


@on_reply("sampling is requested of a client that did not declare it", breaks="LIFE-14")
def samples_anyway(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    said = {"role": "user", "content": {"type": "text", "text": "Hello?"}}
    params = {"messages": [said], "maxTokens": 10}
    return [{"jsonrpc": "2.0", "id": "sample", "method": "sampling/createMessage", "params": params}, reply]


@on_reply("list changes are announced without `listChanged`", breaks="LIFE-14")
def unlisted_changes(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["capabilities"]["tools"] = {}
    if context.method == "tools/call":
        return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, reply]
    return [reply]


RESULT_EDITS: Final = edited_results(
    "initialize",
    (
        "lifecycle.nameless",
        "`serverInfo` has neither name nor version",
        "LIFE-03",
        "serverInfo",
        {"title": "A server"},
    ),
    ("lifecycle.no-server-info", "`serverInfo` is missing", "LIFE-03", "serverInfo", ABSENT),
    ("lifecycle.versionless", "`protocolVersion` is missing", "LIFE-03", "protocolVersion", ABSENT),
)


@on_reply("a supported version is refused, because of something else", breaks="LIFE-09")
def choosy(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "title" not in context.params.get("clientInfo", {}):
        error = {"code": INVALID_PARAMS, "message": "clientInfo.title is required"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply


@on_result(
    "another version than the one asked for, though both are supported", breaks="LIFE-09", method="initialize"
)
def own_version(result: Json, context: FaultContext) -> None:
    liked = next(one for one in HANDSHAKE if one is not context.revision)
    result["protocolVersion"] = liked.date


@on_result("a version that does not exist is echoed", breaks="LIFE-10", method="initialize")
def echoes_any_version(result: Json, context: FaultContext) -> None:
    result["protocolVersion"] = context.params.get("protocolVersion")


OFFERED = "2000-01-01"


@on_reply("a version is offered that the server does not support", breaks="LIFE-10")
def offers_what_it_refuses(reply: Json, context: FaultContext) -> Json:
    asked = context.params.get("protocolVersion")
    if context.method == "initialize" and asked not in (*BY_DATE, OFFERED) and "result" in reply:
        reply["result"]["protocolVersion"] = OFFERED
    return reply


@on_reply("an unsupported version is refused with an error", breaks="LIFE-10")
def refuses_versions(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and context.params.get("protocolVersion") not in BY_DATE:
        error = {"code": INVALID_PARAMS, "message": "unsupported protocol version"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply


@on_reply("the oldest version is offered, not the newest", breaks="LIFE-11")
def offers_oldest(reply: Json, context: FaultContext) -> Json:
    if (
        context.method == "initialize"
        and context.params.get("protocolVersion") not in BY_DATE
        and "result" in reply
    ):
        reply["result"]["protocolVersion"] = HANDSHAKE[0].date
    return reply


@on_result(
    "a result asks for input, in a revision where servers ask by requests",
    breaks="LIFE-13",
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
    method="tools/call",
)
def asks_by_result(result: Json, context: FaultContext) -> None:
    result.update({"resultType": "input_required", "inputRequests": {}})


@on_reply("a notification is sent that the agreed revision does not have", breaks="LIFE-13")
def foreign_notification(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "tools/call":
        params = {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        method = "notifications/subscriptions/acknowledged"
        return [{"jsonrpc": "2.0", "method": method, "params": params}, reply]
    return [reply]


@on_reply(
    "a tool answers with a resource link, which the agreed revision does not know",
    breaks="LIFE-13",
    window=lambda revision: "resource_link" not in revision.content,
)
def future_content(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "content" in reply.get("result", {}):
        reply["result"]["content"].append({"type": "resource_link", "uri": "file:///a", "name": "a"})
    return reply


@on_reply("ping is never answered", breaks="PNG-01", transports=STDIO_ONLY, silent=True)
def ignores_ping(reply: Json, context: FaultContext) -> Json | None:
    return None if context.method == "ping" else reply


@on_reply("ping gets -32601", breaks="PNG-01")
def no_ping(reply: Json, context: FaultContext) -> Json:
    if context.method != "ping":
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": METHOD_NOT_FOUND, "message": "no ping"}}


@on_request("ping is refused before `notifications/initialized`", breaks="PNG-01")
def ping_when_ready(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == "notifications/initialized":
        context.memory["ready"] = True
    if message.get("method") != "ping" or "ready" in context.memory:
        return message
    error = {"code": INVALID_REQUEST, "message": "not initialized"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_reply("ping is answered with content", breaks="PNG-01")
def pong(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": {"message": "pong"}} if context.method == "ping" else reply
