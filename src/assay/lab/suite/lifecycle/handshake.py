"""The handshake: its result, and requests before it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    drop_from_result,
    observe,
    on_reply,
    on_result,
    scenario,
    set_in_result,
)
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, questions
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Opening

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


RESULT_EDITS: Final = (
    set_in_result(
        "lifecycle.nameless",
        "`serverInfo` has neither name nor version",
        breaks="LIFE-03",
        method="initialize",
        path=("serverInfo",),
        value={"title": "A server"},
    ),
    drop_from_result(
        "lifecycle.no-server-info",
        "`serverInfo` is missing",
        breaks="LIFE-03",
        method="initialize",
        path=("serverInfo",),
    ),
    drop_from_result(
        "lifecycle.versionless",
        "`protocolVersion` is missing",
        breaks="LIFE-03",
        method="initialize",
        path=("protocolVersion",),
    ),
)
