"""The handshake, version negotiation, and timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_line, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.shape import is_client_message
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.revisions.registry import BY_DATE, HANDSHAKE, PER_REQUEST, REVISIONS

from .altered_message import within, without
from .declaration import CLIENTS, client_scenario
from .evidence import (
    AFTER,
    ENDLESS,
    INITIALIZE,
    Handshake,
    calls_of,
    describes_itself,
    handshakes,
    has_ended,
    observe_cancelled,
)


def answer_version(stage: ClientStage, version: Callable[[RequestCycle], Any]) -> None:
    usual = stage.server.handlers[INITIALIZE]

    @stage.server.on(INITIALIZE)
    async def initialize(cycle: RequestCycle) -> Answer:
        answer = await usual(cycle)
        assert isinstance(answer, dict)
        return {**answer, "protocolVersion": version(cycle)}

    stage.server.add_tool({"name": "work"})


# --- what is asked


@client_scenario(
    "An older version is agreed on, and kept to",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work")), may_fail=True),
    exercises=("lifecycle.opening", "lifecycle.agreed-version", "http.agreed-version"),
    window=lambda revision: revision in HANDSHAKE[1:],
)
async def drive_older_version(stage: ClientStage) -> None:
    older = HANDSHAKE[HANDSHAKE.index(stage.revision) - 1]
    answer_version(stage, lambda turn: older.date)


@client_scenario(
    "A client speaks the version that it offers",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work"))),
    exercises=("lifecycle.own-version",),
)
async def drive_own_version(stage: ClientStage) -> None:
    def offered(cycle: RequestCycle) -> str:
        given = cycle.params.get("protocolVersion")
        return given if isinstance(given, str) else cycle.server.revision.date

    answer_version(stage, offered)


@client_scenario(
    "A server is not asked for what it did not declare",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work"))),
    exercises=("lifecycle.negotiated-only",),
)
async def drive_tools_only(stage: ClientStage) -> None:
    stage.server.add_tool({"name": "work"})


NOBODYS = "1900-01-01"


@client_scenario(
    "A client leaves a server whose version it cannot speak",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work")), may_fail=True),
    exercises=("lifecycle.unknown-version",),
)
async def drive_unknown_version(stage: ClientStage) -> None:
    answer_version(stage, lambda turn: NOBODYS)


# --- how it is judged


@check("The offered version is one that the client speaks", requirements=("LIFE-07",))
def judge_own_version(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        same = handshake.agreed is not None and handshake.agreed == handshake.offered
        if same and (handshake.later or has_ended(trace)):
            expected = f"the client to go on in {handshake.offered}, which it offered"
            yield observe("LIFE-07", bool(handshake.later), handshake, expected=expected, observed="it left")


@check("A client leaves a server whose version it cannot speak", requirements=("LIFE-12",))
def judge_unknown_version(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        if handshake.agreed is None or handshake.agreed in BY_DATE or not has_ended(trace):
            continue
        said = [one for one in handshake.later if one.method and one.frame.n > handshake.answered]
        expected = f"nothing after an answer with version {handshake.agreed}"
        observed = ", ".join(map(str, said[:3]))
        yield observe("LIFE-12", not said, handshake, *said[:3], expected=expected, observed=observed)


@check("The agreed version is kept to", requirements=("LIFE-13",), everywhere=True)
def judge_agreed_version(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        revision = BY_DATE.get(handshake.agreed or "")
        for message in handshake.later if revision is not None else ():
            # Methods that no revision has are a client's own business.
            if message.method and any(is_client_message(message, one) for one in REVISIONS):
                assert revision is not None
                holds = is_client_message(message, revision)
                expected = f"methods of {revision}"
                yield observe("LIFE-13", holds, message, handshake, expected=expected, observed=message)


ROW = "LIFE-14"
OF_SERVERS = {
    "tools/": ("tools",),
    "prompts/": ("prompts",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
    "resources/": ("resources",),
    "logging/": ("logging",),
    "completion/": ("completions",),
}
"""What a server declares to be asked so; the first that fits decides."""
ROOTS_CHANGED = "notifications/roots/list_changed"


@check("Only negotiated capabilities are used", requirements=(ROW,))
def judge_negotiated_only(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        served = (handshake.exchange.result or {}).get("capabilities")
        for message in handshake.later if isinstance(served, dict) else ():
            path = _needed(message, trace)
            if path is not None:
                expected = f"no {message.method} where the server did not declare `{'.'.join(path)}`"
                yield observe(
                    ROW, _has(served, path), message, handshake, expected=expected, observed=message
                )
            if message.method == ROOTS_CHANGED:
                yield _announced(handshake, message)


def _needed(message: Message, trace: Trace) -> tuple[str, ...] | None:
    path = next((path for prefix, path in OF_SERVERS.items() if message.method.startswith(prefix)), None)
    # Completion had no capability of its own at first.
    return path if path is None or path[0] in trace.revision.capabilities else None


def _has(declared: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        declared = declared.get(name) if isinstance(declared, dict) else None
    return declared is not None and declared is not False


def _announced(handshake: Handshake, message: Message) -> Observation:
    holds = _has(handshake.exchange.params.get("capabilities"), ("roots", "listChanged"))
    expected = "no such notification of a client that did not declare `roots.listChanged`"
    return observe(ROW, holds, message, handshake, expected=expected, observed=message)


TOLD = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
PING, READY = "ping", "notifications/initialized"


@check(
    "The handshake comes first, and is whole",
    requirements=("LIFE-01", "LIFE-02", "LIFE-04", "LIFE-05"),
    everywhere=True,
)
def judge_opening(trace: Trace) -> Iterator[Observation]:
    for first in _firsts(trace):
        yield observe(
            "LIFE-01",
            first.method == INITIALIZE,
            first,
            expected="`initialize` before all else",
            observed=first,
        )
    for handshake in handshakes(trace):
        params = handshake.exchange.params
        lacking = [name for name, kind in TOLD.items() if not isinstance(params.get(name), kind)]
        expected, observed = ", ".join(TOLD), f"no {', '.join(lacking)}"
        yield observe("LIFE-02", not lacking, handshake, expected=expected, observed=observed)
        if handshake.agreed is not None:
            yield from _followed(handshake)
    for handshake in _alone(trace):
        yield from _hurried(handshake)


def _firsts(trace: Trace) -> Iterator[Message]:
    """The first message of each connection, after pings and what only tries for a newer revision."""
    seen: set[str] = set()
    for message in trace.received:
        connection = message.frame.connection
        if (
            message.method
            and connection not in seen
            and message.method != PING
            and not describes_itself(message)
        ):
            seen.add(connection)
            yield message


def _alone(trace: Trace) -> Iterator[Handshake]:
    """Those whose requests can be told: over HTTP, two conversations may go on at once, so only the first."""
    answered = (one for one in handshakes(trace) if one.agreed is not None)
    return islice(answered, 1) if trace.transport == Transport.HTTP else answered


def _hurried(handshake: Handshake) -> Iterator[Observation]:
    early = [one for one in _asked(handshake) if one.frame.n < handshake.answered]
    expected, observed = "no request before the answer to `initialize`", ", ".join(map(str, early))
    yield observe("LIFE-05", not early, *early, handshake, expected=expected, observed=observed)


def _asked(handshake: Handshake) -> list[Message]:
    return [one for one in handshake.later if one.method and "id" in one.fields and one.method != PING]


def _followed(handshake: Handshake) -> Iterator[Observation]:
    asked = _asked(handshake)
    ready = any(one.method == READY for one in handshake.later)
    if ready or asked:
        observed = f"{asked[0]} without it" if asked else ""
        yield observe("LIFE-04", ready, handshake, *asked[:1], expected=READY, observed=observed)


TIMEOUTS_ROW = "LIFE-16"


@check("What takes too long is cancelled", requirements=(TIMEOUTS_ROW,))
def judge_timeouts(trace: Trace) -> Iterator[Observation]:
    if trace.transport != Transport.HTTP or not trace.revision.http.disconnect_cancels:
        yield from observe_cancelled(TIMEOUTS_ROW, trace)
        return
    later = [one for one in calls_of(trace, AFTER) if one.answer is not None]
    for exchange in calls_of(trace, ENDLESS) if later else ():
        if exchange.answer is None:
            left = _left(trace, exchange.request.frame.channel, later[0].frames[-1].n)
            expected, observed = "the response to be closed by the client", "it was left open"
            yield observe(
                TIMEOUTS_ROW, bool(left), exchange, *left, later[0], expected=expected, observed=observed
            )


def _left(trace: Trace, channel: str, until: int) -> list[Frame]:
    """Where the client closed a response in time: by its own end it closes all of them."""
    ends = (one for one in trace.frames[:until] if one.kind is Kind.END and one.channel == channel)
    return [one for one in ends if one.sender is Sender.SUBJECT]


# --- what the checks must catch


@on_message("a version is offered that the client does not speak", breaks="LIFE-07")
def offers_the_unknown(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != INITIALIZE:
        return message
    return within(message, ("params",), lambda params: {**params, "protocolVersion": "1999-01-01"})


@on_message(
    "a session uses a method that its revision does not have", breaks="LIFE-13", scenario="tools_call"
)
def newer_method(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": "newer", "method": "server/discover", "params": {}}]


@on_message("resources are listed though the server has none", breaks="LIFE-14")
def asks_for_all(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": "all", "method": "resources/list", "params": {}}]


@misbehaving("requests are sent without a handshake", breaks="LIFE-01", scenario="tools_call")
async def no_handshake(client: ScriptedClient) -> None:
    await client.connection.open()
    await client.run_steps(client.context["steps"])


@on_message("`initialize` lacks `clientInfo`", breaks="LIFE-02", scenario="tools_call")
def nobody(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params",), lambda params: without(params, "clientInfo"))


EARLY = b'{"jsonrpc":"2.0","id":"early","method":"tools/list"}\n'


@on_line("a request follows `initialize` at once", breaks="LIFE-05", scenario="tools_call")
def hasty(line: bytes, client: ScriptedClient) -> bytes:
    return line + EARLY if b'"initialize"' in line else line


PAUSE = 0.2


@misbehaving(
    "the response to a request that took too long is left open",
    breaks="LIFE-16",
    transports=HTTP_ONLY,
    window=lambda revision: revision in PER_REQUEST,
)
async def keeps_streams(client: ScriptedClient) -> None:
    await client.open()
    params = declared(client.revision, {"name": ENDLESS, "arguments": {}}, {})
    client.task(client.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params}))
    await asyncio.sleep(PAUSE)
    await client.run_steps([call_tool(AFTER)])


BEHAVIOURS: Final = (
    behaviour(
        "lifecycle.speaks-anything",
        "the client goes on with a version that nobody knows",
        breaks="LIFE-12",
        transports=CLIENTS,
        accepts_any_version=True,
    ),
    behaviour(
        "lifecycle.never-ready",
        "`notifications/initialized` is never sent",
        breaks="LIFE-04",
        transports=CLIENTS,
        scenario="tools_call",
        sends_initialized=False,
    ),
    behaviour(
        "lifecycle.waits-on",
        "a request that took too long is not cancelled",
        breaks="LIFE-16",
        transports=CLIENTS,
        window=lambda revision: revision in HANDSHAKE,
        cancels=False,
    ),
)
