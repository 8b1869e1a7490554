"""`server/discover`, supported versions, and requests on a fresh connection."""

from __future__ import annotations

import json
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
    observe,
    on_reply,
    on_request,
    on_result,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.message_meta import (
    CAPABILITIES_KEY,
    CLIENT,
    CLIENT_KEY,
    SERVER_KEY,
    VERSION_KEY,
    param_headers,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import Need
from assay.lab.harness.sabotage.saboteur import LocalAnswer, meta_of
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.retry import identity
from assay.lab.suite.self_description import (
    as_object,
    capabilities_of,
    is_of_revision,
    outcome,
    reply_to,
)
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE, HANDSHAKE
from assay.revisions.revision import Opening

# --- what is asked


NO_VERSIONS: Final = ("1900-01-01", "no version at all")
NOTHING: Final[dict[str, Any]] = {VERSION_KEY: None, CAPABILITIES_KEY: None, CLIENT_KEY: None}
LACKING: Final[tuple[dict[str, Any], ...]] = ({CAPABILITIES_KEY: None}, {VERSION_KEY: None}, NOTHING)


@scenario(
    "Requests that describe themselves, or do not",
    exercises=(
        "stateless.discovery",
        "stateless.versions",
        "stateless.any-client",
        "stateless.required-meta",
        "stateless.result-type",
        "stateless.result-meta",
        "stateless.only-clients-ask",
    ),
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
    official="server-stateless",
)
async def drive_discovery(stage: Stage) -> None:
    peer = await stage.open()
    await _without(peer)
    await peer.request("server/discover")
    await peer.request("tools/list")
    for client in (None, {"name": "somebody-else", "version": "9.9"}):
        await peer.request("server/discover", {"_meta": {CLIENT_KEY: client}})
    await _without(peer)
    for version in NO_VERSIONS:
        await peer.request("server/discover", {"_meta": {VERSION_KEY: version}})
        if stage.facts.declares("tools"):
            await peer.request("tools/list", {"_meta": {VERSION_KEY: version}})
    await _greet_as_before(await stage.connect())


async def _without(peer: Peer) -> None:
    """What a request must say of itself, left out; its headers still say which revision it is of."""
    for meta in LACKING:
        headers = {"MCP-Protocol-Version": peer.revision.date}
        await peer.request("server/discover", {"_meta": meta}, headers=headers)


async def _greet_as_before(peer: Peer) -> None:
    """The opening of earlier revisions, from a client that knows no other."""
    version = HANDSHAKE[-1].date
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, "_meta": NOTHING}
    await peer.request("initialize", params, headers={"MCP-Protocol-Version": None, "Mcp-Method": None})


Operation = tuple[str, dict[str, Any], dict[str, str]]


def operations(facts: Facts) -> list[Operation]:
    """One of each kind that changes nothing: method, parameters, headers."""
    read: list[Operation] = [("resources/read", {"uri": uri}, {}) for uri in uris_of(facts)[:1]]
    for tool in facts.read_only_tools[:1]:
        arguments = arguments_for(tool)
        params = {"name": tool.get("name"), "arguments": arguments}
        read.append(("tools/call", params, param_headers(tool, arguments)))
    return read


SOMETHING: Final = Need(lambda facts: bool(operations(facts)), "has no resource and no tool that only reads")


@scenario(
    "First requests of a connection",
    exercises=("stateless.fresh-connection",),
    needs=(SOMETHING,),
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)
async def drive_first_request(stage: Stage) -> None:
    used = await stage.open()
    await used.request("server/discover")
    for method, params, headers in operations(stage.facts):
        await used.request(method, params, headers=headers)
        fresh = await stage.open()
        await fresh.request(method, params, headers=headers)


# --- how it is judged


_LABEL: Final = r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?"
EXTENSION: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*/([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?")


@check("server/discover says all that it must", requirements=("VER-03", "VER-04", "VER-05", "VER-06"))
def judge_discovery(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        if exchange.answer is None or not is_of_revision(exchange, trace.revision):
            continue
        there = exchange.code != METHOD_NOT_FOUND
        yield observe("VER-03", there, exchange, expected="a result", observed=exchange)
        result = exchange.result
        if result is None:
            continue
        problem = _problem(result, trace.revision.date)
        expected = "versions, capabilities, ttlMs, cacheScope and resultType"
        yield observe("VER-04", problem is None, exchange, expected=expected, observed=problem)
        named = isinstance(as_object(as_object(result.get("_meta")).get(SERVER_KEY)).get("name"), str)
        yield observe("VER-05", named, exchange, expected=f"`_meta` with {SERVER_KEY}", observed="none")
        for name in as_object(as_object(result.get("capabilities")).get("extensions")):
            holds = EXTENSION.fullmatch(name) is not None
            yield observe("VER-06", holds, exchange, expected="prefix/name", observed=repr(name))


def _problem(result: dict[str, Any], version: str) -> str | None:
    versions = result.get("supportedVersions")
    if not isinstance(versions, list) or not all(isinstance(one, str) for one in versions):
        return "`supportedVersions` is no list of versions"
    if version not in versions:
        return f"`supportedVersions` lacks {version}, which it speaks"
    if not isinstance(result.get("capabilities"), dict):
        return "`capabilities` is no object"
    absent = [key for key in ("ttlMs", "cacheScope", "resultType") if key not in result]
    return f"no {', '.join(absent)}" if absent else None


@check("A version that is not spoken is refused, and others are offered", requirements=("VER-01", "VER-10"))
def judge_versions(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        version = exchange.meta.get(VERSION_KEY)
        reply = reply_to(exchange, trace)
        answered = reply is not None or exchange.head is not None
        if isinstance(version, str) and version not in BY_DATE and answered:
            problem = _versions_problem(reply, version, trace.revision.date)
            expected = f"error {UNSUPPORTED_VERSION} with `supported` and `requested`"
            observed = problem or outcome(exchange, reply)
            yield observe("VER-01", problem is None, exchange, expected=expected, observed=observed)
    known = _supported(trace)
    for exchange in trace.exchanges("initialize"):
        reply = reply_to(exchange, trace)
        if reply is not None and reply.error and known:
            text = json.dumps(reply.error)
            named = any(one in text for one in known)
            expected = "an error that names versions"
            yield observe("VER-10", named, exchange, expected=expected, observed=outcome(exchange, reply))


def _versions_problem(reply: Message | None, version: str, spoken: str) -> str | None:
    if reply is None or reply.code != UNSUPPORTED_VERSION:
        return str(reply or "no JSON-RPC error")
    data = as_object(reply.error.get("data"))
    supported = data.get("supported")
    if not isinstance(supported, list) or spoken not in supported:
        return f"`data.supported` does not list {spoken}: {supported}"
    if version in supported:
        return f"`data.supported` lists {version}, which was refused"
    return None if data.get("requested") == version else f"`data.requested` is {data.get('requested')!r}"


def _supported(trace: Trace) -> list[str]:
    lists = (exchange.items("supportedVersions") for exchange in trace.exchanges("server/discover"))
    return [one for versions in lists for one in versions if isinstance(one, str)]


@check("The name of a client changes nothing", requirements=("META-12",))
def judge_any_client(trace: Trace) -> Iterator[Observation]:
    first: dict[str, Exchange] = {}
    for exchange in trace.exchanges("server/discover"):
        if exchange.answer is None or not is_of_revision(exchange, trace.revision):
            continue
        before = first.setdefault(json.dumps(capabilities_of(exchange), sort_keys=True), exchange)
        if exchange.meta.get(CLIENT_KEY) != before.meta.get(CLIENT_KEY):
            yield observe(
                "META-12",
                _offer(exchange) == _offer(before),
                before,
                exchange,
                expected="the same versions and capabilities for two clients that differ in `clientInfo`",
                observed=exchange,
            )


def _offer(exchange: Exchange) -> tuple[object, object]:
    result = exchange.result or {}
    return result.get("supportedVersions"), result.get("capabilities")


@check("Related requests need not share a connection", requirements=("BASE-29",))
def judge_fresh_connection(trace: Trace) -> Iterator[Observation]:
    begun: set[str] = set()
    worked: dict[str, Exchange] = {}
    for exchange in trace.exchanges():
        connection, name = exchange.request.frame.connection, identity(exchange)
        first = connection not in begun
        begun.add(connection)
        if first and name in worked and exchange.answer is not None:
            yield observe(
                "BASE-29",
                exchange.result is not None,
                worked[name],
                exchange,
                expected="a result, as on the connection before",
                observed=exchange,
            )
        elif not first and exchange.result is not None and is_of_revision(exchange, trace.revision):
            worked[name] = exchange


# --- what the checks must catch


@on_reply("`server/discover` is not implemented", breaks="VER-03")
def no_discovery(reply: Json, context: FaultContext) -> Json:
    if context.method != "server/discover":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


@on_result(
    "discovery gives `protocolVersion`, not `supportedVersions`", breaks="VER-04", method="server/discover"
)
def one_version(result: Json, context: FaultContext) -> None:
    result["protocolVersion"] = result.pop("supportedVersions")[0]


@on_result(
    "discovery names the server in `serverInfo`, not in `_meta`", breaks="VER-05", method="server/discover"
)
def anonymous_discovery(result: Json, context: FaultContext) -> None:
    result["serverInfo"] = result.pop("_meta")[SERVER_KEY]


@on_request("a version that does not exist is served", breaks="VER-01", transports=STDIO_ONLY)
def any_version(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta:
        meta[VERSION_KEY] = context.revision.date
    return message


@on_reply("the versions that are offered lack the one that is spoken", breaks="VER-01")
def newest_untold(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        data = reply["error"]["data"]
        data["supported"] = [one for one in data["supported"] if one != context.revision.date]
    return reply


@on_reply("an unsupported version gets -32602", breaks="VER-01")
def version_invalid_params(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["code"] = INVALID_PARAMS
    return reply


@on_reply("a refused version comes without those that are supported", breaks="VER-01")
def versions_untold(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        del reply["error"]["data"]
    return reply


@on_request("`initialize` is refused without a word on versions", breaks="VER-10")
def greeting_unknown(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "initialize":
        return message
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_reply("what is declared depends on the name of the client", breaks="META-12")
def favourite_client(reply: Json, context: FaultContext) -> Json:
    client = context.meta.get(CLIENT_KEY)
    if context.method == "server/discover" and "result" in reply and client != CLIENT:
        reply["result"]["capabilities"] = {"tools": {}}
    return reply


@on_reply("a request without `clientInfo` is refused", breaks="META-12")
def known_clients_only(reply: Json, context: FaultContext) -> Json:
    if context.request is None or CLIENT_KEY in context.meta:
        return reply
    error = {"code": INVALID_PARAMS, "message": "clientInfo is required"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


@on_request("nothing works on a connection before discovery", breaks="BASE-29", transports=STDIO_ONLY)
def list_before_use(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == "server/discover":
        context.memory["discovered"] = True
    if "discovered" in context.memory or "id" not in message:
        return message
    error = {"code": INVALID_PARAMS, "message": "not initialized"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


RESULT_EDITS: Final = edited_results(
    "server/discover",
    ("stateless.no-capabilities", "discovery has no `capabilities`", "VER-04", "capabilities", ABSENT),
    (
        "stateless.bare-extension",
        "an extension has no prefix",
        "VER-06",
        "capabilities.extensions",
        {"models": {}},
    ),
)
