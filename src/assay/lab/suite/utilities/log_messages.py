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
    result_reply,
    scenario,
)
from assay.lab.harness.driver.choice import A_SAFE_REQUEST, SafeRequest, calls_that_log, safe_requests_for
from assay.lab.harness.driver.list_change import announced_lists
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import Need, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer, meta_of, params_of
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import LEVELS, Message, severity
from assay.lab.harness.trace.order import is_later, open_requests
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import WEBSOCKET_ONLY, Transport
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS

SET_LEVEL: Final = "logging/setLevel"
LOG: Final = "notifications/message"

# --- what is asked


LEVEL, UNKNOWN_LEVEL = "error", "loud"


@scenario(
    "Set a valid log level, call tools, and set an invalid level",
    exercises=("utilities.log-level", "utilities.log-on-demand", "utilities.bad-log-level"),
    needs=(declares("logging"),),
    official="logging-set-level",
)
async def drive_log_levels(stage: Stage) -> None:
    peer = await stage.open()
    level = {LOG_LEVEL_KEY: LEVEL} if stage.revision.logs_on_demand else {}
    await _set_level(peer, LEVEL)
    for number, safe in enumerate(_requests(stage.facts)):
        await safe.ask(peer, {"progressToken": f"token {number}", **level})
    await _set_level(peer, UNKNOWN_LEVEL)


async def _set_level(peer: Peer, level: str) -> None:
    if peer.revision.logs_on_demand:
        await peer.request("server/discover", {"_meta": {LOG_LEVEL_KEY: level}})
    else:
        await peer.request(SET_LEVEL, {"level": level})


@scenario(
    "Set different log levels in two sessions, and call tools in the quiet one",
    # Many servers log nothing: then only the declarations of both sessions are compared.
    exercises=("utilities.log-level", "agreement.same-declaration"),
    needs=(declares("logging"), A_SAFE_REQUEST),
    transports=frozenset({Transport.HTTP, Transport.WEBSOCKET}),
    window=lambda revision: not revision.logs_on_demand,
)
async def drive_two_levels(stage: Stage) -> None:
    quiet, verbose = await stage.open(), await stage.open()
    await quiet.request(SET_LEVEL, {"level": LEVEL})
    await verbose.request(SET_LEVEL, {"level": LEVELS[0]})
    for number, safe in enumerate(_requests(stage.facts)):
        await safe.ask(quiet, {"progressToken": number})


def _requests(facts: Facts) -> list[SafeRequest]:
    """The usual requests, and one that is known to log: only log messages show whether a level has effect."""
    usual = safe_requests_for(facts)
    return [*(safe for safe in calls_that_log(facts) if safe not in usual), *usual]


FILTERS: Final = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@scenario(
    "Call tools while a listen stream is open",
    exercises=("utilities.log-on-demand", "utilities.own-cancellation", "utilities.progress-tokens"),
    needs=(Need(lambda facts: bool(announced_lists(facts)), "announces no changes of lists"),),
    window=lambda revision: LISTEN in revision.requests,
)
async def drive_listening(stage: Stage) -> None:
    peer = await stage.open()
    pending = await peer.start(LISTEN, {"notifications": FILTERS})
    await peer.wait_for(ACKNOWLEDGED, during=pending)
    async with peer.probe("cancellation"):
        for number, safe in enumerate(safe_requests_for(stage.facts)):
            await safe.ask(peer, {"progressToken": number, LOG_LEVEL_KEY: LEVELS[0]})


# --- how it is judged


@check("Log messages have at least the level that was set", requirements=("LOG-02",), everywhere=True)
def judge_log_level(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        level = severity(message.params.get("level"))
        setting = _setting_before(message, trace) if message.method == LOG and level is not None else None
        least = None if setting is None else severity(setting.params.get("level"))
        if level is not None and setting is not None and least is not None:
            expected = f"nothing below {setting.params['level']}"
            observed = f"a message of level {message.params['level']}"
            yield observe("LOG-02", level >= least, setting, message, expected=expected, observed=observed)


def _setting_before(message: Message, trace: Trace) -> Exchange | None:
    """The last setting of the level, if the message was certainly sent after its answer."""
    settings = [
        exchange
        for exchange in trace.exchanges(SET_LEVEL)
        if exchange.request.frame.connection == message.frame.connection
        and exchange.request.frame.n < message.frame.n
        and (exchange.result is not None or exchange.answer is None)
    ]
    answer = settings[-1].answer if settings and settings[-1].in_session else None
    return settings[-1] if answer is not None and is_later(message, answer, trace) else None


@check(
    "Log messages come only on the response to a request that asks for them",
    requirements=("LOG-05", "LOG-06", "LOG-07"),
    everywhere=True,
)
def judge_log_on_demand(trace: Trace) -> Iterator[Observation]:
    if not trace.revision.logs_on_demand:
        return
    logs = [message for message in trace.received if message.method == LOG]
    for message in logs:
        yield from _judge_log(message, trace)
    for exchange in trace.exchanges("tools/call", "prompts/get", "resources/read"):
        silent = exchange.answer is not None and exchange.meta.get(LOG_LEVEL_KEY) is None
        # While another request is open, a message may belong to either.
        if silent and not any(exchange in open_requests(message, trace) for message in logs):
            yield observe("LOG-05", True, exchange, expected="no log messages", observed="none")


def _judge_log(message: Message, trace: Trace) -> Iterator[Observation]:
    running = open_requests(message, trace)
    streams = [exchange for exchange in running if exchange.method == LISTEN]
    if streams and (len(streams) == len(running) == 1 or SUBSCRIPTION_KEY in message.meta):
        expected = "a log message on the response stream of its request"
        yield observe("LOG-07", False, message, *streams, expected=expected, observed="on a listen stream")
        return
    requests = [exchange for exchange in running if exchange.method != LISTEN]
    requested = [exchange.meta.get(LOG_LEVEL_KEY) for exchange in requests]
    levels = [level for level in map(severity, requested) if level is not None]
    if not requests:
        expected = "log messages before the final response"
        yield observe("LOG-06", False, message, expected=expected, observed="one after it")
    elif not any(level is not None for level in requested):
        expected = "no log message for a request that does not ask for any"
        yield observe("LOG-05", False, message, *requests, expected=expected, observed=message)
    elif levels:
        level = severity(message.params.get("level"))
        holds, expected = level is None or level >= min(levels), f"nothing below {LEVELS[min(levels)]}"
        observed = f"a message of level {message.params.get('level')}"
        yield observe("LOG-06", holds, message, *requests, expected=expected, observed=observed)
        yield observe("LOG-07", True, message, *requests, expected="its request's stream", observed="it")


@check("An unknown log level gets -32602", requirements=("LOG-03",))
def judge_bad_log_level(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        level = _level(exchange, trace)
        if level is not None and severity(level) is None and exchange.answer is not None:
            refused, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS} for level {level!r}"
            yield observe("LOG-03", refused, exchange, expected=expected, observed=exchange)


def _level(exchange: Exchange, trace: Trace) -> Any:
    if trace.revision.logs_on_demand:
        return exchange.meta.get(LOG_LEVEL_KEY)
    return exchange.params.get("level") if exchange.method == SET_LEVEL else None


@check("A server that logs declares `logging`", requirements=("LOG-01",), everywhere=True)
def judge_log_declared(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for message in trace.received:
        if message.method == LOG and declared is not None:
            holds, expected = declared.has("logging"), "no log messages from a server without `logging`"
            yield observe("LOG-01", holds, message, declared, expected=expected, observed=message)


# --- what the checks must catch


@on_request("accepts `logging/setLevel` without effect", breaks="LOG-02")
def level_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    sets_level = message.get("method") == SET_LEVEL
    return LocalAnswer([result_reply(message, {})]) if sets_level else message


def _level_of_any(message: Json, context: FaultContext) -> Json:
    if message.get("method") == SET_LEVEL:
        context.shared["level"] = params_of(message).get("level")
    return message


@on_reply(
    "has one log level for all sessions",
    breaks="LOG-02",
    transports=WEBSOCKET_ONLY,
    scenario="utilities.two-levels",
    request=_level_of_any,
)
def one_level_for_all(reply: Json, context: FaultContext) -> list[Json]:
    logs = context.method == "tools/call" and context.shared.get("level") == LEVELS[0]
    return [_log("called", level=LEVELS[0]), reply] if logs else [reply]


@on_request("counts log levels from the wrong end", breaks="LOG-02")
def levels_from_the_wrong_end(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == SET_LEVEL and "level" in params:
        level = severity(params["level"])
        params["level"] = LEVELS[-1 - level] if level is not None else "debug"
    return message


def _log(text: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "method": LOG, "params": {"level": "info", "data": text, **params}}


@on_reply("logs during a request that did not ask for it", breaks="LOG-05")
def logs_unasked(reply: Json, context: FaultContext) -> list[Json]:
    unasked = context.method == "tools/call" and LOG_LEVEL_KEY not in context.meta
    return [_log("called"), reply] if unasked else [reply]


@on_reply("logs after the final response", breaks="LOG-06", scenario="utilities.working")
def logs_after_answer(reply: Json, context: FaultContext) -> list[Json]:
    logs = context.method == "tools/call" and LOG_LEVEL_KEY in context.meta
    return [reply, _log("done")] if logs else [reply]


@on_request("logs below the level that the request asks for", breaks="LOG-06")
def logs_below_level(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if meta.get(LOG_LEVEL_KEY) in LEVELS:
        meta[LOG_LEVEL_KEY] = LEVELS[0]
    return message


@on_reply("logs on a listen stream", breaks="LOG-07")
def logs_to_listeners(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    return [reply, _log("somebody listens", _meta=reply["params"]["_meta"])]


@on_request("accepts an unknown log level", breaks="LOG-03")
def any_level(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == SET_LEVEL and params_of(message).get("level", "debug") not in LEVELS:
        return LocalAnswer([result_reply(message, {})])
    meta = meta_of(message)
    if meta.get(LOG_LEVEL_KEY, "debug") not in LEVELS:
        meta.pop(LOG_LEVEL_KEY)
    return message


@on_reply("refuses an unknown log level with -32603", breaks="LOG-03")
def bad_level_fails(reply: Json, context: FaultContext) -> Json:
    level = context.params.get("level", context.meta.get(LOG_LEVEL_KEY, "debug"))
    if level not in LEVELS and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


RESULT_EDITS: Final = edited_results(
    ("initialize", "server/discover"),
    ("utilities.logs-undeclared", "does not declare `logging`", "LOG-01", "capabilities.logging", ABSENT),
)
