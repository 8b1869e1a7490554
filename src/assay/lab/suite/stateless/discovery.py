"""`server/discover`, requests without required fields, unknown versions, and new connections."""

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
    Response,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_request,
    on_response,
    on_result,
    scenario,
)
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
from assay.lab.harness.sabotage.saboteur import LocalAnswer, meta_of, params_of
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.retry import identity
from assay.lab.suite.self_description import (
    as_object,
    capabilities_of,
    is_of_revision,
    missing_fields,
    outcome,
    reply_to,
)
from assay.model.error import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from assay.revisions.registry import BY_DATE, HANDSHAKE
from assay.revisions.revision import Opening

# --- what is asked


UNKNOWN_VERSIONS: Final = ("1900-01-01", "no version at all")
NOTHING: Final[dict[str, Any]] = {VERSION_KEY: None, CAPABILITIES_KEY: None, CLIENT_KEY: None}
INCOMPLETE: Final[tuple[dict[str, Any], ...]] = ({CAPABILITIES_KEY: None}, {VERSION_KEY: None}, NOTHING)


@scenario(
    "Send requests with and without version, capabilities and client name",
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
    for meta in INCOMPLETE:
        await _send_incomplete(await stage.open_apart(), meta)
    peer = await stage.open()
    await peer.request("server/discover")
    await peer.request("tools/list")
    for client in (None, {"name": "somebody-else", "version": "9.9"}):
        await peer.request("server/discover", {"_meta": {CLIENT_KEY: client}})
    await _initialize(await stage.connect())
    for version in UNKNOWN_VERSIONS:
        await _send_unknown(stage, await stage.open_apart(), version)
    used = await stage.open_apart()
    await used.request("server/discover")
    await used.request("tools/list")
    for version in UNKNOWN_VERSIONS:
        await _send_unknown(stage, used, version)
    for meta in INCOMPLETE:
        await _send_incomplete(used, meta)


async def _send_unknown(stage: Stage, peer: Peer, version: str) -> None:
    await peer.request("server/discover", {"_meta": {VERSION_KEY: version}})
    if stage.facts.declares("tools"):
        await peer.request("tools/list", {"_meta": {VERSION_KEY: version}})


async def _send_incomplete(peer: Peer, meta: dict[str, Any]) -> None:
    """Leave out required fields of `_meta`; the headers still name the revision."""
    headers = {"MCP-Protocol-Version": peer.revision.date}
    await peer.request("server/discover", {"_meta": meta}, headers=headers)


async def _initialize(peer: Peer) -> None:
    """Open as a client does that only knows revisions with a handshake."""
    version = HANDSHAKE[-1].date
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, "_meta": NOTHING}
    await peer.request("initialize", params, headers={"MCP-Protocol-Version": None, "Mcp-Method": None})


Operation = tuple[str, dict[str, Any], dict[str, str]]
"""Method, parameters and headers."""


def operations(facts: Facts) -> list[Operation]:
    """One operation of each kind without side effects."""
    reads: list[Operation] = [("resources/read", {"uri": uri}, {}) for uri in uris_of(facts)[:1]]
    for tool in facts.quick_tools[:1]:
        arguments = facts.arguments_for(tool)
        params = {"name": tool.get("name"), "arguments": arguments}
        reads.append(("tools/call", params, param_headers(tool, arguments)))
    return reads


@scenario(
    "Repeat requests as the first on a new connection",
    exercises=("stateless.fresh-connection",),
    needs=(Need(lambda facts: bool(operations(facts)), "has no resource and no tool that may be called"),),
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


@check("The result of `server/discover` is complete", requirements=("VER-03", "VER-04", "VER-05", "VER-06"))
def judge_discovery(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        if exchange.answer is None or not is_of_revision(exchange, trace.revision):
            continue
        implemented = exchange.code != METHOD_NOT_FOUND
        yield observe("VER-03", implemented, exchange, expected="a result", observed=exchange)
        result = exchange.result
        if result is None:
            continue
        problem = _problem(result, trace.revision.date)
        expected = "versions, capabilities, ttlMs, cacheScope and resultType"
        yield observe("VER-04", problem is None, exchange, expected=expected, observed=problem)
        named = isinstance(as_object(as_object(result.get("_meta")).get(SERVER_KEY)).get("name"), str)
        yield observe("VER-05", named, exchange, expected=f"`_meta` with {SERVER_KEY}", observed="none")
        for name in as_object(as_object(result.get("capabilities")).get("extensions")):
            valid = EXTENSION.fullmatch(name) is not None
            yield observe("VER-06", valid, exchange, expected="prefix/name", observed=repr(name))


def _problem(result: dict[str, Any], version: str) -> str | None:
    versions = result.get("supportedVersions")
    if not isinstance(versions, list) or not all(isinstance(each, str) for each in versions):
        return "`supportedVersions` is not a list of versions"
    if version not in versions:
        return f"`supportedVersions` lacks {version}, which the server supports"
    if not isinstance(result.get("capabilities"), dict):
        return "`capabilities` is not an object"
    absent = [key for key in ("ttlMs", "cacheScope", "resultType") if key not in result]
    return "; ".join(f"no {key}" for key in absent) or None


@check("A request without version or capabilities is refused", requirements=("META-08", "BASE-27"))
def judge_required_meta(trace: Trace) -> Iterator[Observation]:
    complete: set[str] = set()
    refused_first: set[tuple[str, ...]] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        lacking, reply = missing_fields(exchange, trace.revision), reply_to(exchange, trace)
        if lacking and (reply is not None or exchange.head is not None):
            if connection in complete and tuple(lacking) in refused_first:
                expected = f"an error, although an earlier request had {lacking[0]}"
                failed = exchange.result is None
                yield observe("BASE-27", failed, exchange, expected=expected, observed=exchange)
            else:
                yield _judge_incomplete(exchange, reply, lacking)
            if connection not in complete and exchange.result is None:
                refused_first.add(tuple(lacking))
        elif is_of_revision(exchange, trace.revision) and exchange.result is not None:
            complete.add(connection)


def _judge_incomplete(exchange: Exchange, reply: Message | None, lacking: list[str]) -> Observation:
    """A request without a required field, unless it is only served because of an earlier request."""
    refused, observed = _is_refused(exchange, reply, lacking), outcome(exchange, reply)
    expected = f"error {INVALID_PARAMS} (HTTP 400) for a request without {lacking[0]}"
    return observe("META-08", refused, exchange, expected=expected, observed=observed)


def _is_refused(exchange: Exchange, reply: Message | None, lacking: list[str]) -> bool:
    code = None if reply is None else reply.code
    if exchange.head is None:
        return code == INVALID_PARAMS
    # A version in the header and none in the body is also a mismatch; the specification gives no order.
    mismatch = VERSION_KEY in lacking and code == HEADER_MISMATCH
    return (code == INVALID_PARAMS or mismatch) and exchange.head.status == 400


@check("The refusal of a version lists supported versions", requirements=("VER-01", "VER-10", "BASE-27"))
def judge_versions(trace: Trace) -> Iterator[Observation]:
    complete: set[str] = set()
    refused_first: set[tuple[str, str]] = set()
    for exchange in trace.exchanges():
        version, reply = exchange.meta.get(VERSION_KEY), reply_to(exchange, trace)
        answered = reply is not None or exchange.head is not None
        used = exchange.request.frame.connection in complete
        if not isinstance(version, str) or version in BY_DATE or not answered:
            if exchange.result is not None and is_of_revision(exchange, trace.revision):
                complete.add(exchange.request.frame.connection)
            continue
        problem = _refusal_problem(reply, version, trace.revision.date)
        if used and exchange.result is not None and (exchange.method, version) in refused_first:
            expected = f"error {UNSUPPORTED_VERSION}, as on a new connection: each request has its version"
            yield observe("BASE-27", False, exchange, expected=expected, observed=exchange)
            continue
        if not used and problem is None:
            refused_first.add((exchange.method, version))
        expected = f"error {UNSUPPORTED_VERSION} with `supported` and `requested`"
        observed = problem or outcome(exchange, reply)
        yield observe("VER-01", problem is None, exchange, expected=expected, observed=observed)
    yield from _judge_handshake(trace)


def _judge_handshake(trace: Trace) -> Iterator[Observation]:
    lists = [exchange.items("supportedVersions") for exchange in trace.exchanges("server/discover")]
    supported = [version for versions in lists for version in versions if isinstance(version, str)]
    for exchange in trace.exchanges("initialize"):
        reply = reply_to(exchange, trace)
        if reply is not None and reply.error and supported:
            named = any(version in json.dumps(reply.error) for version in supported)
            expected, observed = "an error that names versions", outcome(exchange, reply)
            yield observe("VER-10", named, exchange, expected=expected, observed=observed)


def _refusal_problem(reply: Message | None, refused: str, supported: str) -> str | None:
    if reply is None or reply.code != UNSUPPORTED_VERSION:
        return str(reply or "no JSON-RPC error")
    data = as_object(reply.error.get("data"))
    versions = data.get("supported")
    if not isinstance(versions, list) or supported not in versions:
        return f"`data.supported` does not list {supported}: {versions}"
    if refused in versions:
        return f"`data.supported` lists {refused}, which was refused"
    return None if data.get("requested") == refused else f"`data.requested` is {data.get('requested')!r}"


@check("The name of a client changes nothing", requirements=("META-12",))
def judge_any_client(trace: Trace) -> Iterator[Observation]:
    first: dict[str, Exchange] = {}
    expected = "the same versions and capabilities for two clients that differ in `clientInfo`"
    for exchange in trace.exchanges("server/discover"):
        if exchange.answer is None or not is_of_revision(exchange, trace.revision):
            continue
        before = first.setdefault(json.dumps(capabilities_of(exchange), sort_keys=True), exchange)
        if exchange.meta.get(CLIENT_KEY) != before.meta.get(CLIENT_KEY):
            same = _offer(exchange) == _offer(before)
            yield observe("META-12", same, before, exchange, expected=expected, observed=exchange)


def _offer(exchange: Exchange) -> tuple[object, object]:
    result = exchange.result or {}
    return result.get("supportedVersions"), result.get("capabilities")


@check("Related requests need not share a connection", requirements=("BASE-29",))
def judge_fresh_connection(trace: Trace) -> Iterator[Observation]:
    connections: set[str] = set()
    worked: dict[str, Exchange] = {}
    for exchange in trace.exchanges():
        connection, name = exchange.request.frame.connection, identity(exchange)
        first = connection not in connections
        connections.add(connection)
        if first and name in worked and exchange.answer is not None:
            holds, expected = exchange.result is not None, "a result, as on the connection before"
            yield observe("BASE-29", holds, worked[name], exchange, expected=expected, observed=exchange)
        elif not first and exchange.result is not None and is_of_revision(exchange, trace.revision):
            worked[name] = exchange


# --- what the checks must catch


@on_reply("does not implement `server/discover`", breaks="VER-03")
def no_discovery(reply: Json, context: FaultContext) -> Json:
    discovers = context.method == "server/discover"
    return error_reply(reply, METHOD_NOT_FOUND, "Method not found") if discovers else reply


@on_result("sends `protocolVersion`, not `supportedVersions`", breaks="VER-04", method="server/discover")
def one_version(result: Json, context: FaultContext) -> None:
    result["protocolVersion"] = result.pop("supportedVersions")[0]


@on_result("sends `serverInfo` outside `_meta`", breaks="VER-05", method="server/discover")
def anonymous_discovery(result: Json, context: FaultContext) -> None:
    result["serverInfo"] = result.pop("_meta")[SERVER_KEY]


@on_request("takes missing fields from an earlier request", breaks="BASE-27")
def remembers_client(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta and CAPABILITIES_KEY in meta:
        context.memory.update(meta)
    elif context.memory:
        params_of(message)["_meta"] = {**context.memory, **meta}
    return message


@on_request(
    "serves a connection at the version of its first request", breaks="BASE-27", transports=STDIO_ONLY
)
def first_version(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta:
        first = context.memory.setdefault("version", meta[VERSION_KEY])
        meta[VERSION_KEY] = first
    return message


@on_reply("refuses a request without version or capabilities with -32600", breaks="META-08")
def meta_invalid_request(reply: Json, context: FaultContext) -> Json:
    if "error" in reply and not {VERSION_KEY, CAPABILITIES_KEY} <= context.meta.keys():
        reply["error"]["code"] = INVALID_REQUEST
    return reply


@on_request("serves a request without version or capabilities", breaks="META-08")
def meta_optional(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "server/discover":
        meta = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}, **meta_of(message)}
        message["params"] = {**params_of(message), "_meta": meta}
    return message


@on_response("refuses a request without capabilities with status 200", breaks="META-08")
def meta_status_ok(response: Response, context: FaultContext) -> None:
    if CAPABILITIES_KEY not in context.meta:
        response.status = 200


@on_request("accepts an unknown version", breaks="VER-01", transports=STDIO_ONLY)
def any_version(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta:
        meta[VERSION_KEY] = context.revision.date
    return message


def _is_refusal(reply: Json) -> bool:
    return bool(reply.get("error", {}).get("code") == UNSUPPORTED_VERSION)


@on_reply("leaves the version it supports out of `data.supported`", breaks="VER-01")
def newest_untold(reply: Json, context: FaultContext) -> Json:
    if _is_refusal(reply):
        data = reply["error"]["data"]
        data["supported"] = [version for version in data["supported"] if version != context.revision.date]
    return reply


@on_reply("refuses an unsupported version with -32602", breaks="VER-01")
def version_invalid_params(reply: Json, context: FaultContext) -> Json:
    if _is_refusal(reply):
        reply["error"]["code"] = INVALID_PARAMS
    return reply


@on_reply("refuses a version without listing the supported ones", breaks="VER-01")
def versions_untold(reply: Json, context: FaultContext) -> Json:
    if _is_refusal(reply):
        del reply["error"]["data"]
    return reply


@on_request("refuses `initialize` without naming versions", breaks="VER-10")
def greeting_unknown(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "initialize":
        return message
    return LocalAnswer([error_reply(message, METHOD_NOT_FOUND, "Method not found")])


@on_result("declares capabilities by the name of the client", breaks="META-12", method="server/discover")
def favourite_client(result: Json, context: FaultContext) -> None:
    if context.meta.get(CLIENT_KEY) != CLIENT:
        result["capabilities"] = {"tools": {}}


@on_reply("refuses a request without `clientInfo`", breaks="META-12")
def known_clients_only(reply: Json, context: FaultContext) -> Json:
    named = context.request is None or CLIENT_KEY in context.meta
    return reply if named else error_reply(reply, INVALID_PARAMS, "clientInfo is required")


@on_request("refuses requests on a connection before discovery", breaks="BASE-29", transports=STDIO_ONLY)
def list_before_use(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == "server/discover":
        context.memory["discovered"] = True
    if "discovered" in context.memory or "id" not in message:
        return message
    return LocalAnswer([error_reply(message, INVALID_PARAMS, "not initialized")])


RESULT_EDITS: Final = edited_results(
    "server/discover",
    ("stateless.no-capabilities", "sends no `capabilities`", "VER-04", "capabilities", ABSENT),
    (
        "stateless.bare-extension",
        "declares an extension without a prefix",
        "VER-06",
        "capabilities.extensions",
        {"models": {}},
    ),
)
