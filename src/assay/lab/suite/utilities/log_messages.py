"""Log messages: declared, by level, and only on demand."""

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
    scenario,
)
from assay.lab.harness.driver.choice import safe_requests_for
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.need import Need, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer, meta_of, params_of
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import LEVELS, Message, severity
from assay.lab.harness.trace.order import is_later, open_requests
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS

# --- what is asked


LEVEL, NO_LEVEL = "error", "loud"


@scenario(
    "Log levels",
    exercises=("utilities.log-level", "utilities.log-on-demand", "utilities.bad-log-level"),
    needs=(declares("logging"),),
    official="logging-set-level",
)
async def drive_log_levels(stage: Stage) -> None:
    peer = await stage.open()
    on_demand = stage.revision.logs_on_demand
    await _set_level(peer, LEVEL)
    for number, errand in enumerate(safe_requests_for(stage.facts)):
        level = {LOG_LEVEL_KEY: LEVEL} if on_demand else {}
        await errand.ask(peer, {"progressToken": f"token {number}", **level})
    await _set_level(peer, NO_LEVEL)


async def _set_level(peer: Peer, level: str) -> None:
    if peer.revision.logs_on_demand:
        await peer.request("server/discover", {"_meta": {LOG_LEVEL_KEY: level}})
    else:
        await peer.request("logging/setLevel", {"level": level})


WANTED = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
LISTS = ("tools", "prompts", "resources")
ANNOUNCED = Need(
    lambda facts: any(facts.declares(name, "listChanged") for name in LISTS), "announces no changes of lists"
)


@scenario(
    "Work beside a listen stream",
    exercises=("utilities.log-on-demand", "utilities.own-cancellation", "utilities.progress-tokens"),
    needs=(ANNOUNCED,),
    window=lambda revision: "subscriptions/listen" in revision.requests,
)
async def drive_listening(stage: Stage) -> None:
    peer = await stage.open()
    listening = await peer.start("subscriptions/listen", {"notifications": WANTED})
    await peer.wait_for("notifications/subscriptions/acknowledged", during=listening)
    async with peer.probe("cancellation"):
        for number, errand in enumerate(safe_requests_for(stage.facts)):
            await errand.ask(peer, {"progressToken": number, LOG_LEVEL_KEY: LEVELS[0]})


# --- how it is judged


@check("Only the level that was set, and above", requirements=("LOG-02",), everywhere=True)
def judge_log_level(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        level = severity(message.params.get("level"))
        if message.method != "notifications/message" or level is None:
            continue
        setting = _in_force(message, trace)
        least = None if setting is None else severity(setting.params.get("level"))
        if setting is not None and least is not None:
            yield observe(
                "LOG-02",
                level >= least,
                setting,
                message,
                expected=f"nothing below {setting.params['level']}",
                observed=f"a message of level {message.params['level']}",
            )


def _in_force(message: Message, trace: Trace) -> Exchange | None:
    """The setting that a message surely came after; none where that is open."""
    settings = [
        one
        for one in trace.exchanges("logging/setLevel")
        if one.request.frame.connection == message.frame.connection
        and one.request.frame.n < message.frame.n
        and (one.result is not None or one.answer is None)
    ]
    if not settings or not _is_remembered(settings[-1]):
        return None
    answer = settings[-1].answer
    return settings[-1] if answer is not None and is_later(message, answer, trace) else None


def _is_remembered(setting: Exchange) -> bool:
    """Over HTTP without a session, nothing that a client sets can outlive its request."""
    frame = setting.request.frame
    return frame.kind is not Kind.REQUEST or parse_head(frame.raw).get("mcp-session-id") is not None


LOG = "notifications/message"
LISTEN = "subscriptions/listen"


@check(
    "Log messages go where they were asked for", requirements=("LOG-05", "LOG-06", "LOG-07"), everywhere=True
)
def judge_log_on_demand(trace: Trace) -> Iterator[Observation]:
    if not trace.revision.logs_on_demand:
        return
    logs = [message for message in trace.received if message.method == LOG]
    for message in logs:
        yield from _log(message, trace)
    for exchange in trace.exchanges("tools/call", "prompts/get", "resources/read"):
        if exchange.answer is not None and _wanted(exchange) is None:
            heard = [one for one in logs if exchange in open_requests(one, trace)]
            # With another request open, nothing says whose message it is.
            if not heard:
                yield observe("LOG-05", True, exchange, expected="no log messages", observed="none")


def _log(message: Message, trace: Trace) -> Iterator[Observation]:
    running = open_requests(message, trace)
    listening = [one for one in running if one.method == LISTEN]
    if listening and (len(listening) == len(running) == 1 or SUBSCRIPTION_KEY in _meta(message)):
        where = "a log message on the response stream of the request that wants it"
        yield observe("LOG-07", False, message, *listening, expected=where, observed="on a listen stream")
        return
    asking = [one for one in running if one.method != LISTEN]
    wanted = [_wanted(one) for one in asking]
    levels = [level for level in map(severity, wanted) if level is not None]
    if not asking:
        expected = "log messages before the final response"
        yield observe("LOG-06", False, message, expected=expected, observed="one after it")
    elif not any(level is not None for level in wanted):
        expected = "no log message for a request that does not ask for any"
        yield observe("LOG-05", False, message, *asking, expected=expected, observed=message)
    elif levels:
        level = severity(message.params.get("level"))
        expected = f"nothing below {LEVELS[min(levels)]}"
        enough = level is None or level >= min(levels)
        observed = f"a message of level {message.params.get('level')}"
        yield observe("LOG-06", enough, message, *asking, expected=expected, observed=observed)
        yield observe("LOG-07", True, message, *asking, expected="the stream of its request", observed="it")


def _wanted(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get(LOG_LEVEL_KEY) if isinstance(meta, dict) else None


def _meta(message: Message) -> dict[str, Any]:
    meta = message.params.get("_meta")
    return meta if isinstance(meta, dict) else {}


@check("A log level that does not exist gets -32602", requirements=("LOG-03",))
def judge_bad_log_level(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        asked = _level(exchange, trace)
        if asked is not None and severity(asked) is None and exchange.answer is not None:
            yield observe(
                "LOG-03",
                exchange.code == INVALID_PARAMS,
                exchange,
                expected=f"error {INVALID_PARAMS} for level {asked!r}",
                observed=exchange,
            )


def _level(exchange: Exchange, trace: Trace) -> Any:
    if not trace.revision.logs_on_demand:
        return exchange.params.get("level") if exchange.method == "logging/setLevel" else None
    meta = exchange.params.get("_meta")
    return meta.get(LOG_LEVEL_KEY) if isinstance(meta, dict) else None


@check("A server that logs has declared it", requirements=("LOG-01",), everywhere=True)
def judge_log_declared(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for message in trace.received:
        if message.method == "notifications/message" and declared is not None:
            yield observe(
                "LOG-01",
                declared.has("logging"),
                message,
                declared,
                expected="no log messages from a server without `logging`",
                observed=message,
            )


# --- what the checks must catch


@on_request("`logging/setLevel` changes nothing", breaks="LOG-02")
def level_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "logging/setLevel":
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])


@on_request("the level is taken for the one as far from the other end", breaks="LOG-02")
def levels_from_the_wrong_end(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "logging/setLevel" and "level" in params:
        level = severity(params["level"])
        params["level"] = LEVELS[-1 - level] if level is not None else "debug"
    return message


@on_reply("log messages for a request that did not ask for them", breaks="LOG-05")
def logs_unasked(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or LOG_LEVEL_KEY in context.meta:
        return [reply]
    params = {"level": "info", "data": "called"}
    return [{"jsonrpc": "2.0", "method": "notifications/message", "params": params}, reply]


@on_reply("log messages come after the final response", breaks="LOG-06", scenario="utilities.working")
def logs_after_answer(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or LOG_LEVEL_KEY not in context.meta:
        return [reply]
    params = {"level": "info", "data": "done"}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]


@on_request("log messages below the level that the request asks for", breaks="LOG-06")
def logs_below_level(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if meta.get(LOG_LEVEL_KEY) in LEVELS:
        meta[LOG_LEVEL_KEY] = LEVELS[0]
    return message


@on_reply("log messages on a listen stream", breaks="LOG-07")
def logs_to_listeners(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != "notifications/subscriptions/acknowledged":
        return [reply]
    params = {"level": "info", "data": "somebody listens", "_meta": reply["params"]["_meta"]}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]


@on_request("a log level that does not exist is accepted", breaks="LOG-03")
def any_level(message: Json, context: FaultContext) -> Json | LocalAnswer:
    params = params_of(message)
    if message.get("method") == "logging/setLevel" and params.get("level", "debug") not in LEVELS:
        return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
    meta = meta_of(message)
    if meta.get(LOG_LEVEL_KEY, "debug") not in LEVELS:
        meta.pop(LOG_LEVEL_KEY)
    return message


@on_reply("a log level that does not exist gets -32603", breaks="LOG-03")
def bad_level_fails(reply: Json, context: FaultContext) -> Json:
    level = context.params.get("level", context.meta.get(LOG_LEVEL_KEY, "debug"))
    if level not in LEVELS and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


RESULT_EDITS: Final = edited_results(
    ("initialize", "server/discover"),
    ("utilities.logs-undeclared", "`logging` is not declared", "LOG-01", "capabilities.logging", ABSENT),
)
