"""Self-describing requests: `_meta`, versions, extensions, the probe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, Transport
from assay.lab.suite.jsonrpc.shapes import NAME, PREFIX
from assay.model.error import UNSUPPORTED_VERSION

from .altered_message import with_meta, within, without
from .declaration import client_scenario
from .evidence import INITIALIZE, has_ended, rejected

# --- what is asked


TO_COME = "2999-01-01"


@client_scenario(
    "A version that is refused is not insisted on",
    script=ClientScript(steps=(LIST_TOOLS,), may_fail=True),
    exercises=("stateless.refused-version",),
)
async def drive_refused_version(stage: ClientStage) -> None:
    async def refuse(cycle: RequestCycle) -> Answer:
        told = {"supported": [TO_COME], "requested": cycle.meta.get(VERSION_KEY)}
        raise AnswerError(UNSUPPORTED_VERSION, "unsupported protocol version", told)

    for method in ("server/discover", "tools/list"):
        stage.server.on(method)(refuse)
    stage.server.add_tool({"name": "work"})


# --- how it is judged


MOST = 3
"""Requests of one method in a version that was refused: more are no second thought, but a loop."""


@check("A refused version is not insisted on", requirements=("VER-02", "VER-14", "VER-15"))
def judge_refused_version(trace: Trace) -> Iterator[Observation]:
    refused = [one for one in trace.subject_exchanges() if one.code == UNSUPPORTED_VERSION]
    if not refused or not has_ended(trace):
        return
    first = refused[0]
    again = [one for one in trace.subject_exchanges(first.method) if _version(one) == _version(first)]
    expected, observed = "another version or an error", f"{len(again)} times the same"
    yield observe("VER-02", len(again) <= MOST, *again[:MOST], expected=expected, observed=observed)
    begin = first.request.frame.n
    shaken = [one for one in trace.subject_exchanges(INITIALIZE) if one.request.frame.n > begin]
    row = "VER-15" if trace.transport == Transport.HTTP else "VER-14"
    if row == "VER-15" or first.method == "server/discover":
        expected = "no handshake after an error of a revision without one"
        yield observe(row, not shaken, first, *shaken[:1], expected=expected, observed=INITIALIZE)


def _version(exchange: Exchange) -> object:
    return meta_of(exchange.request).get(VERSION_KEY)


OF_EXTENSIONS = ("tasks/",)
"""How methods begin that only an extension brings."""


@check(
    "Extensions are named, and used where both have them", requirements=("VER-06", "VER-07"), everywhere=True
)
def judge_extensions(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        declared = meta_of(message).get(CAPABILITIES_KEY)
        named = declared.get("extensions") if isinstance(declared, dict) else None
        for name in named if isinstance(named, dict) else ():
            prefix, slash, rest = name.partition("/")
            right = bool(slash and PREFIX.fullmatch(prefix) and NAME.fullmatch(rest))
            yield observe("VER-06", right, message, expected="a prefix and a name", observed=f"{name!r}")
    served = [
        _served(one.result) for one in trace.subject_exchanges("server/discover") if one.result is not None
    ]
    for exchange in trace.subject_exchanges() if served and not any(served) else ():
        core = not exchange.method.startswith(OF_EXTENSIONS)
        expected = "core methods, where the server has no extensions"
        yield observe("VER-07", core, exchange, expected=expected, observed=exchange.method)


def _served(result: dict[str, object] | None) -> bool:
    """Whether a server says that it has extensions."""
    capabilities = (result or {}).get("capabilities")
    return isinstance(capabilities, dict) and bool(capabilities.get("extensions"))


TOLD = (("META-05", VERSION_KEY, str), ("META-06", CAPABILITIES_KEY, dict), ("META-07", CLIENT_KEY, dict))


@check("Requests describe themselves", requirements=("META-05", "META-06", "META-07"), everywhere=True)
def judge_own_words(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.shape is Shape.REQUEST and message.method != INITIALIZE:
            meta = meta_of(message)
            for row, key, kind in TOLD:
                given = meta.get(key)
                expected, observed = f"`{key}` in `_meta`", f"{given!r}"
                yield observe(row, isinstance(given, kind), message, expected=expected, observed=observed)


def meta_of(message: Message) -> dict[str, Any]:
    meta = message.params.get("_meta")
    return meta if isinstance(meta, dict) else {}


PROBE = "server/discover"
OFTEN = 3
"""Probes that are too many, where there are as many as other requests."""


@check(
    "A client probes once, and on stdio first", requirements=("VER-09", "VER-11", "VER-12"), everywhere=True
)
def judge_probe(trace: Trace) -> Iterator[Observation]:
    by_connection: dict[str, list[str]] = {}
    for exchange in (one for one in trace.subject_exchanges() if not rejected(one)):
        said = by_connection.setdefault(exchange.request.frame.connection, [])
        # A process that was started later is known by then.
        if not any(by_connection.values()) and trace.transport == Transport.STDIO:
            first, expected = exchange.method == PROBE, f"{PROBE} before all else"
            for row in ("VER-11", "VER-12"):
                yield observe(row, first, exchange, expected=expected, observed=exchange.method)
        said.append(exchange.method)
    for connection, said in by_connection.items():
        probes, others = said.count(PROBE), len(said) - said.count(PROBE)
        if probes and others > 1:
            asked = [
                one for one in trace.subject_exchanges(PROBE) if one.request.frame.connection == connection
            ]
            often = probes >= OFTEN and probes >= others
            expected, observed = "one probe", f"{probes}, and {others} other requests"
            yield observe("VER-09", not often, *asked, expected=expected, observed=observed)


KEY = r"[a-z0-9][a-z0-9_\-*/@]*"
TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
FORMS = {
    "traceparent": re.compile(
        r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?"
    ),
    "tracestate": re.compile(rf"\s*({KEY}=[^,=]*)?(\s*,\s*({KEY}=[^,=]*)?)*\s*"),
    "baggage": re.compile(rf"\s*{TOKEN}\s*=[^,]*(\s*,\s*{TOKEN}\s*=[^,]*)*"),
}


@check("A trace context has its form", requirements=("META-13",), everywhere=True)
def judge_trace_context(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        for key, form in FORMS.items():
            if key in (meta := meta_of(message)):
                right = isinstance(meta[key], str) and form.fullmatch(meta[key]) is not None
                expected = f"`{key}` in the form of the W3C"
                yield observe("META-13", right, message, expected=expected, observed=f"{meta[key]!r}")


# --- what the checks must catch


@misbehaving(
    "a version that was refused is tried again and again",
    breaks="VER-02",
    scenario="stateless.refused-version",
)
async def insists(client: ScriptedClient) -> None:
    await client.connection.open()
    for _ in range(2 * MOST):
        await client.ask("tools/list", {}, timeout=1.0)


@on_received(
    "an error of a revision without a handshake leads to one", breaks="VER-14", transports=STDIO_ONLY
)
def falls_back(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "code": -32601})


@on_received("an error of a revision without a handshake leads to one", breaks="VER-15", transports=HTTP_ONLY)
def falls_back_unread(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "code": -32601})


@on_message("an extension is declared by a short name", breaks="VER-06")
def short_extension(message: Json, client: ScriptedClient) -> Json:
    def extended(meta: Json) -> Json:
        return {**meta, CAPABILITIES_KEY: {"extensions": {"tasks": {}}}}

    return with_meta(message, extended)


@on_message("a method of an extension is used that the server lacks", breaks="VER-07")
def foreign_extension(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    params = {"taskId": "none", "_meta": message["params"]["_meta"]}
    return [message, {"jsonrpc": "2.0", "id": "extra", "method": "tasks/get", "params": params}]


@on_message("requests lack their version", breaks="META-05")
def no_version(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, VERSION_KEY))


@on_message("requests lack the capabilities of their client", breaks="META-06")
def no_capabilities(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CAPABILITIES_KEY))


@on_message("requests lack the name of their client", breaks="META-07")
def nobody(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CLIENT_KEY))


@on_message("the server is probed before each request", breaks="VER-09", scenario="tools_call")
def probes_always(message: Json, client: ScriptedClient) -> Any:
    if not message.get("method", "").startswith("tools/"):
        return message
    params = {"_meta": message["params"]["_meta"]}
    return [message, {"jsonrpc": "2.0", "id": f"probe-{message['id']}", "method": PROBE, "params": params}]


@on_message("`traceparent` has no form", breaks="META-13")
def odd_traceparent(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: {**meta, "traceparent": "here-and-there"})


BEHAVIOURS: Final = (
    behaviour(
        "stateless.no-probe",
        "a server on stdio is not probed",
        breaks="VER-11",
        transports=STDIO_ONLY,
        probes=False,
    ),
    behaviour(
        "stateless.blind",
        "a server on stdio is not probed",
        breaks="VER-12",
        transports=STDIO_ONLY,
        probes=False,
    ),
)
