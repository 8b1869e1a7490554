"""Version negotiation in the handshake."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.trace.shape import knows
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS
from assay.revisions.registry import BY_DATE, HANDSHAKE, REVISIONS
from assay.revisions.revision import Asking, Opening

# --- what is asked


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


# --- how it is judged


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


# --- what the checks must catch


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
