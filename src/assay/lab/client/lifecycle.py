"""The handshake, version negotiation, and timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_line, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.shape import is_client_message
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.revisions.registry import BY_DATE, HANDSHAKE, PER_REQUEST, REVISIONS

from .altered_message import after_call, with_params, within, without
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

# --- what is asked


WORK: Final = (LIST_TOOLS, call_tool("work"))


def _answer_version(stage: ClientStage, version: Callable[[RequestCycle], Any]) -> None:
    usual = stage.server.handlers[INITIALIZE]

    @stage.server.on(INITIALIZE)
    async def initialize(cycle: RequestCycle) -> Answer:
        answer = await usual(cycle)
        assert isinstance(answer, dict)
        return {**answer, "protocolVersion": version(cycle)}

    stage.server.add_tool({"name": "work"})


@client_scenario(
    "Answer the handshake with an older version",
    script=ClientScript(steps=WORK, may_fail=True),
    exercises=("lifecycle.opening", "lifecycle.agreed-version", "http.agreed-version"),
    window=lambda revision: revision in HANDSHAKE[1:],
)
async def drive_older_version(stage: ClientStage) -> None:
    older = HANDSHAKE[HANDSHAKE.index(stage.revision) - 1]
    _answer_version(stage, lambda cycle: older.date)


@client_scenario(
    "Accept any version that the client offers",
    script=ClientScript(steps=WORK),
    exercises=("lifecycle.own-version",),
)
async def drive_own_version(stage: ClientStage) -> None:
    def offered(cycle: RequestCycle) -> str:
        version = cycle.params.get("protocolVersion")
        return version if isinstance(version, str) else cycle.server.revision.date

    _answer_version(stage, offered)


@client_scenario(
    "Declare only tools", script=ClientScript(steps=WORK), exercises=("lifecycle.negotiated-only",)
)
async def drive_tools_only(stage: ClientStage) -> None:
    stage.server.add_tool({"name": "work"})


@client_scenario(
    "Answer the handshake with an unknown version",
    script=ClientScript(steps=WORK, may_fail=True),
    exercises=("lifecycle.unknown-version",),
)
async def drive_unknown_version(stage: ClientStage) -> None:
    _answer_version(stage, lambda cycle: "1900-01-01")


# --- how it is judged


@check("The client supports the version that it offers", requirements=("LIFE-07",))
def judge_own_version(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        same = handshake.agreed is not None and handshake.agreed == handshake.offered
        if same and (handshake.later or has_ended(trace)):
            holds = bool(handshake.later)
            expected = f"the client to continue in {handshake.offered}, which it offered"
            yield observe("LIFE-07", holds, handshake, expected=expected, observed="it disconnected")


@check("The client disconnects if it does not support the version", requirements=("LIFE-12",))
def judge_unknown_version(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        if handshake.agreed is None or handshake.agreed in BY_DATE or not has_ended(trace):
            continue
        later = (message for message in handshake.later if message.frame.n > handshake.answered)
        messages = [message for message in later if message.method][:3]
        expected = f"nothing after an answer with version {handshake.agreed}"
        observed = ", ".join(map(str, messages))
        yield observe("LIFE-12", not messages, handshake, *messages, expected=expected, observed=observed)


@check("The negotiated version is respected", requirements=("LIFE-13",), everywhere=True)
def judge_agreed_version(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        if (revision := BY_DATE.get(handshake.agreed or "")) is None:
            continue
        for message in handshake.later:
            # Clients may have methods of their own, which no revision knows.
            if message.method and any(is_client_message(message, known) for known in REVISIONS):
                holds = is_client_message(message, revision)
                expected = f"methods of {revision}"
                yield observe("LIFE-13", holds, message, handshake, expected=expected, observed=message)


CAPABILITIES: Final = {
    "tools/": ("tools",),
    "prompts/": ("prompts",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
    "resources/": ("resources",),
    "logging/": ("logging",),
    "completion/": ("completions",),
}
"""The server capability for methods with a prefix; the first match decides."""


@check("Only negotiated capabilities are used", requirements=("LIFE-14",))
def judge_negotiated_only(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        declared = (handshake.exchange.result or {}).get("capabilities")
        for message in handshake.later if isinstance(declared, dict) else ():
            path = _needed(message, trace)
            if path is not None:
                expected = f"no {message.method}, as the server did not declare `{'.'.join(path)}`"
                holds = _has(declared, path)
                yield observe("LIFE-14", holds, message, handshake, expected=expected, observed=message)
            if message.method == "notifications/roots/list_changed":
                holds = _has(handshake.exchange.params.get("capabilities"), ("roots", "listChanged"))
                expected = "no such notification, as the client did not declare `roots.listChanged`"
                yield observe("LIFE-14", holds, message, handshake, expected=expected, observed=message)


def _needed(message: Message, trace: Trace) -> tuple[str, ...] | None:
    path = next((path for prefix, path in CAPABILITIES.items() if message.method.startswith(prefix)), None)
    # The first revisions have completion, but no capability for it.
    return path if path is None or path[0] in trace.revision.capabilities else None


def _has(declared: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        declared = declared.get(name) if isinstance(declared, dict) else None
    return declared is not None and declared is not False


FIELDS: Final = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
PING, READY = "ping", "notifications/initialized"


@check(
    "The handshake comes first and is complete",
    requirements=("LIFE-01", "LIFE-02", "LIFE-04", "LIFE-05"),
    everywhere=True,
)
def judge_opening(trace: Trace) -> Iterator[Observation]:
    for first in _first_messages(trace):
        holds = first.method == INITIALIZE
        yield observe("LIFE-01", holds, first, expected="`initialize` first", observed=first)
    answered = []
    for handshake in handshakes(trace):
        params = handshake.exchange.params
        missing = [name for name, kind in FIELDS.items() if not isinstance(params.get(name), kind)]
        expected, observed = ", ".join(FIELDS), f"no {', '.join(missing)}"
        yield observe("LIFE-02", not missing, handshake, expected=expected, observed=observed)
        if handshake.agreed is not None:
            answered.append(handshake)
            yield from _judge_initialized(handshake)
    # Over HTTP, several sessions may be open at once: only requests of the first can be assigned.
    for handshake in answered[:1] if trace.transport == Transport.HTTP else answered:
        early = [request for request in _requests(handshake) if request.frame.n < handshake.answered]
        expected, observed = "no request before the answer to `initialize`", ", ".join(map(str, early))
        yield observe("LIFE-05", not early, *early, handshake, expected=expected, observed=observed)


def _first_messages(trace: Trace) -> Iterator[Message]:
    """The first message on each connection, after pings and attempts at a newer revision."""
    connections: set[str] = set()
    for message in trace.received:
        connection = message.frame.connection
        counts = message.method and message.method != PING and not describes_itself(message)
        if counts and connection not in connections:
            connections.add(connection)
            yield message


def _requests(handshake: Handshake) -> list[Message]:
    requests = (message for message in handshake.later if message.method and "id" in message.fields)
    return [request for request in requests if request.method != PING]


def _judge_initialized(handshake: Handshake) -> Iterator[Observation]:
    requests = _requests(handshake)[:1]
    ready = any(message.method == READY for message in handshake.later)
    if ready or requests:
        observed = f"{requests[0]} without it" if requests else ""
        yield observe("LIFE-04", ready, handshake, *requests, expected=READY, observed=observed)


@check("A request that timed out is cancelled", requirements=("LIFE-16",))
def judge_timeouts(trace: Trace) -> Iterator[Observation]:
    if trace.transport != Transport.HTTP or not trace.revision.http.disconnect_cancels:
        yield from observe_cancelled("LIFE-16", trace)
        return
    later = [call for call in calls_of(trace, AFTER) if call.answer is not None][:1]
    for call in calls_of(trace, ENDLESS) if later else ():
        if call.answer is None:
            # The client's exit, which comes later, closes all responses.
            closed = [
                frame
                for frame in trace.frames[: later[0].frames[-1].n]
                if frame.kind is Kind.END
                and frame.channel == call.request.frame.channel
                and frame.sender is Sender.SUBJECT
            ]
            expected, observed = "the response to be closed by the client", "it was left open"
            yield observe(
                "LIFE-16", bool(closed), call, *closed, *later, expected=expected, observed=observed
            )


# --- what the checks must catch


@on_message("offers a version that it does not support", breaks="LIFE-07")
def offers_the_unknown(message: Json, client: ScriptedClient) -> Json:
    opens = message.get("method") == INITIALIZE
    return with_params(message, protocolVersion="1999-01-01") if opens else message


@on_message("uses a method of a newer revision", breaks="LIFE-13", scenario="tools_call")
def newer_method(message: Json, client: ScriptedClient) -> Any:
    return after_call(message, {"jsonrpc": "2.0", "id": "newer", "method": "server/discover", "params": {}})


@on_message("lists resources of a server without any", breaks="LIFE-14")
def asks_for_all(message: Json, client: ScriptedClient) -> Any:
    return after_call(message, {"jsonrpc": "2.0", "id": "all", "method": "resources/list", "params": {}})


@misbehaving("sends requests without a handshake", breaks="LIFE-01", scenario="tools_call")
async def no_handshake(client: ScriptedClient) -> None:
    await client.connection.open()
    await client.run_steps(client.context["steps"])


@on_message("omits `clientInfo` in `initialize`", breaks="LIFE-02", scenario="tools_call")
def nobody(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params",), lambda params: without(params, "clientInfo"))


EARLY: Final = b'{"jsonrpc":"2.0","id":"early","method":"tools/list"}\n'


@on_line("sends a request right after `initialize`", breaks="LIFE-05", scenario="tools_call")
def hasty(line: bytes, client: ScriptedClient) -> bytes:
    return line + EARLY if b'"initialize"' in line else line


PAUSE: Final = 0.2


@misbehaving(
    "leaves the response open after a timeout",
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


_everywhere = partial(behaviour, transports=CLIENTS)
BEHAVIOURS: Final = (
    _everywhere(
        "lifecycle.speaks-anything", "accepts an unknown version", breaks="LIFE-12", accepts_any_version=True
    ),
    _everywhere(
        "lifecycle.never-ready",
        "never sends `notifications/initialized`",
        breaks="LIFE-04",
        scenario="tools_call",
        sends_initialized=False,
    ),
    _everywhere(
        "lifecycle.waits-on",
        "does not cancel a request that timed out",
        breaks="LIFE-16",
        window=lambda revision: revision in HANDSHAKE,
        cancels=False,
    ),
)
