"""Self-describing requests: `_meta`, versions, extensions, the probe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.sabotage.client_saboteur import (
    ClientSaboteur,
    behaviour,
    misbehaving,
    on_message,
    on_received,
)
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, Transport
from assay.lab.suite.jsonrpc.shapes import NAME, PREFIX
from assay.model.error import METHOD_NOT_FOUND, UNSUPPORTED_VERSION

from .altered_message import after_call, with_meta, within, without
from .declaration import client_scenario
from .evidence import INITIALIZE, has_ended, rejected

PROBE: Final = "server/discover"

# --- what is asked


@client_scenario(
    "Reject the version of every request",
    script=ClientScript(steps=(LIST_TOOLS,), may_fail=True),
    exercises=("stateless.refused-version",),
)
async def drive_refused_version(stage: ClientStage) -> None:
    async def refuse(cycle: RequestCycle) -> Answer:
        versions = {"supported": ["2999-01-01"], "requested": cycle.meta.get(VERSION_KEY)}
        raise AnswerError(UNSUPPORTED_VERSION, "unsupported protocol version", versions)

    for method in (PROBE, "tools/list"):
        stage.server.on(method)(refuse)
    stage.server.add_tool({"name": "work"})


# --- how it is judged


MOST: Final = 3
"""Requests of one method with a rejected version; more of them are a loop."""


@check("A rejected version is not used again", requirements=("VER-02", "VER-14", "VER-15"))
def judge_refused_version(trace: Trace) -> Iterator[Observation]:
    refused = [exchange for exchange in trace.subject_exchanges() if exchange.code == UNSUPPORTED_VERSION]
    if not refused or not has_ended(trace):
        return
    first = refused[0]
    version = first.request.meta.get(VERSION_KEY)
    every = trace.subject_exchanges(first.method)
    same = [again for again in every if again.request.meta.get(VERSION_KEY) == version]
    expected, observed = "another version or an error", f"{len(same)} times the same"
    yield observe("VER-02", len(same) <= MOST, *same[:MOST], expected=expected, observed=observed)
    begin = first.request.frame.n
    openings = [
        opening for opening in trace.subject_exchanges(INITIALIZE) if opening.request.frame.n > begin
    ][:1]
    requirement = "VER-15" if trace.transport == Transport.HTTP else "VER-14"
    if requirement == "VER-15" or first.method == PROBE:
        expected = "no handshake after an error of a revision without one"
        yield observe(requirement, not openings, first, *openings, expected=expected, observed=INITIALIZE)


@check(
    "Extensions are named correctly, and used only if the server has them",
    requirements=("VER-06", "VER-07"),
    everywhere=True,
)
def judge_extensions(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        for name in _extensions(message.meta.get(CAPABILITIES_KEY)):
            prefix, slash, rest = name.partition("/")
            holds = bool(slash and PREFIX.fullmatch(prefix) and NAME.fullmatch(rest))
            yield observe("VER-06", holds, message, expected="a prefix and a name", observed=f"{name!r}")
    results = [probe.result for probe in trace.subject_exchanges(PROBE) if probe.result is not None]
    extended = any(_extensions(result.get("capabilities")) for result in results)
    for exchange in trace.subject_exchanges() if results and not extended else ():
        holds = not exchange.method.startswith("tasks/")
        expected = "core methods, as the server has no extensions"
        yield observe("VER-07", holds, exchange, expected=expected, observed=exchange.method)


def _extensions(capabilities: Any) -> dict[str, Any]:
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return extensions if isinstance(extensions, dict) else {}


META: Final = {
    VERSION_KEY: ("META-05", str),
    CAPABILITIES_KEY: ("META-06", dict),
    CLIENT_KEY: ("META-07", dict),
}


@check(
    "Requests name their version, capabilities and client",
    requirements=("META-05", "META-06", "META-07"),
    everywhere=True,
)
def judge_own_words(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.shape is Shape.REQUEST and message.method != INITIALIZE:
            for key, (requirement, kind) in META.items():
                value = message.meta.get(key)
                holds, expected = isinstance(value, kind), f"`{key}` in `_meta`"
                yield observe(requirement, holds, message, expected=expected, observed=f"{value!r}")


OFTEN: Final = 3
"""Probes that are too many, if there are as many as other requests."""


@check(
    "A client probes once, and on stdio first", requirements=("VER-09", "VER-11", "VER-12"), everywhere=True
)
def judge_probe(trace: Trace) -> Iterator[Observation]:
    by_connection: dict[str, list[Exchange]] = {}
    for exchange in trace.subject_exchanges():
        if rejected(exchange):
            continue
        # A restarted server needs no probe.
        if not by_connection and trace.transport == Transport.STDIO:
            holds, expected = exchange.method == PROBE, f"{PROBE} first"
            for requirement in ("VER-11", "VER-12"):
                yield observe(requirement, holds, exchange, expected=expected, observed=exchange.method)
        by_connection.setdefault(exchange.request.frame.connection, []).append(exchange)
    for exchanges in by_connection.values():
        probes = [exchange for exchange in exchanges if exchange.method == PROBE]
        others = len(exchanges) - len(probes)
        if probes and others > 1:
            holds = len(probes) < max(OFTEN, others)
            expected, observed = "one probe", f"{len(probes)}, and {others} other requests"
            yield observe("VER-09", holds, *probes, expected=expected, observed=observed)


KEY: Final = r"[a-z0-9][a-z0-9_\-*/@]*"
TOKEN: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
FORMATS: Final = {
    "traceparent": re.compile(
        r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?"
    ),
    "tracestate": re.compile(rf"\s*({KEY}=[^,=]*)?(\s*,\s*({KEY}=[^,=]*)?)*\s*"),
    "baggage": re.compile(rf"\s*{TOKEN}\s*=[^,]*(\s*,\s*{TOKEN}\s*=[^,]*)*"),
}


@check("Trace context follows the W3C formats", requirements=("META-13",), everywhere=True)
def judge_trace_context(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        meta = message.meta
        for key, form in FORMATS.items():
            if key in meta:
                holds = isinstance(meta[key], str) and form.fullmatch(meta[key]) is not None
                expected = f"`{key}` in the W3C format"
                yield observe("META-13", holds, message, expected=expected, observed=f"{meta[key]!r}")


# --- what the checks must catch


@misbehaving("repeats a rejected version without end", breaks="VER-02", scenario="stateless.refused-version")
async def insists(client: ScriptedClient) -> None:
    await client.connection.open()
    for _ in range(2 * MOST):
        await client.ask("tools/list", {}, timeout=1.0)


def _alters_meta(name: str, fault: str, breaks: str, change: Callable[[Json], Json]) -> ClientSaboteur:
    """A client that changes `_meta` in each of its requests."""
    return on_message(fault, id=f"stateless.{name}", breaks=breaks)(
        lambda message, client: with_meta(message, change)
    )


METAS: Final = (
    _alters_meta(
        "short-extension",
        "declares an extension without a prefix",
        "VER-06",
        lambda meta: {**meta, CAPABILITIES_KEY: {"extensions": {"tasks": {}}}},
    ),
    _alters_meta("no-version", "omits its version", "META-05", lambda meta: without(meta, VERSION_KEY)),
    _alters_meta(
        "no-capabilities", "omits its capabilities", "META-06", lambda meta: without(meta, CAPABILITIES_KEY)
    ),
    _alters_meta("nobody", "omits its name", "META-07", lambda meta: without(meta, CLIENT_KEY)),
    _alters_meta(
        "odd-traceparent",
        "sends an invalid `traceparent`",
        "META-13",
        lambda meta: {**meta, "traceparent": "here-and-there"},
    ),
)


@on_message("uses a method of an extension that the server lacks", breaks="VER-07")
def foreign_extension(message: Json, client: ScriptedClient) -> Any:
    params = {"taskId": "none", "_meta": message.get("params", {}).get("_meta")}
    return after_call(message, {"jsonrpc": "2.0", "id": "extra", "method": "tasks/get", "params": params})


@on_message("probes the server before each request", breaks="VER-09", scenario="tools_call")
def probes_always(message: Json, client: ScriptedClient) -> Any:
    if not message.get("method", "").startswith("tools/"):
        return message
    params = {"_meta": message["params"]["_meta"]}
    return [message, {"jsonrpc": "2.0", "id": f"probe-{message['id']}", "method": PROBE, "params": params}]


def _try_handshake(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "code": METHOD_NOT_FOUND})


FALLBACKS: Final = tuple(
    on_received(
        "tries a handshake after an error of a revision without one",
        id=f"stateless.{name}",
        breaks=breaks,
        transports=transports,
    )(_try_handshake)
    for name, breaks, transports in (
        ("falls-back", "VER-14", STDIO_ONLY),
        ("falls-back-unread", "VER-15", HTTP_ONLY),
    )
)
BEHAVIOURS: Final = tuple(
    behaviour(name, "does not probe on stdio", breaks=breaks, transports=STDIO_ONLY, probes=False)
    for name, breaks in (("stateless.no-probe", "VER-11"), ("stateless.blind", "VER-12"))
)
