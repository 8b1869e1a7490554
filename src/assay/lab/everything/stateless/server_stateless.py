"""Self-describing requests: versions, `_meta`, discovery, listen streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    edited_results,
    error_reply,
    observe,
    on_call,
    on_reply,
    on_request,
    on_response,
    result_reply,
)
from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.driver.message_meta import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LOG_LEVEL_KEY,
    SERVER_KEY,
    VERSION_KEY,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.sabotage.saboteur import LocalAnswer, Saboteur, meta_of, params_of
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.lab.suite.mirrored_header import VERSION, request_of
from assay.lab.suite.self_description import (
    as_object,
    capabilities_of,
    is_of_revision,
    outcome,
    reply_to,
)
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN
from assay.model.error import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
)

from .listen_streams import ROWS as LISTEN_ROWS
from .listen_streams import judge_listening

NO_VERSION: Final = "v999.0.0"
"""A version that does not exist."""
NEEDS_SAMPLING: Final = "test_missing_capability"
ASKS: Final = "test_streaming_elicitation"
LOGS: Final = "test_logging_tool"
UNASKED_LOG: Final = "unasked log"
"""The probe of a call that requests no log messages."""
UNKNOWN: Final = "unknown/method"
REMOVED: Final = {
    "initialize": "initialize",
    "ping": "ping",
    "logging/setLevel": "logging-setlevel",
    "resources/subscribe": "resources-subscribe",
    "resources/unsubscribe": "resources-unsubscribe",
}
"""Methods of earlier revisions, each with its name in the id of a requirement."""


# --- what is asked


DISCOVER: Final = "server/discover"
TRIGGERS: Final = {"tools": "test_trigger_tool_change", "prompts": "test_trigger_prompt_change"}
"""Fixtures that change a list; they need not be listed themselves."""


@official_scenario("server-stateless", "Send complete and incomplete self-describing requests")
async def drive_server_stateless(stage: Stage) -> None:
    peer = await stage.open()
    for method in (DISCOVER, "prompts/list", "tools/list"):
        await peer.request(method)
    await peer.request(DISCOVER, {"_meta": {CLIENT_KEY: None}})
    await _send_incomplete(peer)
    await peer.request(DISCOVER, {"_meta": {VERSION_KEY: NO_VERSION}})
    if stage.transport is Transport.HTTP:
        differs = {VERSION: stage.revision.date}
        await peer.request(DISCOVER, {"_meta": {VERSION_KEY: NO_VERSION}}, headers=differs)
        for method in (*REMOVED, UNKNOWN):
            await peer.request(method, {})
    await _call_tools(peer, stage.facts)
    await _listen(peer, stage.facts)


async def _send_incomplete(peer: Peer) -> None:
    """Without `_meta`, version or capabilities; headers still name the revision."""
    number = peer.next_id()
    pending = peer.expect(DISCOVER, number)
    pending.sent = await peer.send({"jsonrpc": "2.0", "id": number, "method": DISCOVER, "params": {}})
    await peer.answer(pending)
    for key in (VERSION_KEY, CAPABILITIES_KEY):
        await peer.request(DISCOVER, {"_meta": {key: None}}, headers={VERSION: peer.revision.date})


async def _call_tools(peer: Peer, facts: Facts) -> None:
    listed = {tool.get("name") for tool in facts.tools}
    if NEEDS_SAMPLING in listed:
        await _call(peer, NEEDS_SAMPLING, {"sampling": {}})
        await _call(peer, NEEDS_SAMPLING, {})
    if ASKS in listed:
        await _call(peer, ASKS, {"elicitation": {}})
    if LOGS in listed:
        async with peer.probe(UNASKED_LOG):
            await _call(peer, LOGS, {})
        await _call(peer, LOGS, {}, _meta={LOG_LEVEL_KEY: "debug"})


async def _call(peer: Peer, name: str, capabilities: dict[str, Any], **more: Any) -> bool:
    """Returns whether the call succeeded."""
    peer.capabilities = capabilities
    reply = await peer.request("tools/call", {"name": name, "arguments": {}, **more})
    peer.capabilities = {}
    return reply.is_result and reply.result.get("isError") is not True


async def _listen(peer: Peer, facts: Facts) -> None:
    """One listener per list. Each list changes twice, so that each change comes last once."""
    for area in TRIGGERS:
        pending = await peer.start(LISTEN, {"notifications": {f"{area}ListChanged": True}})
        if await peer.wait_for(ACKNOWLEDGED, during=pending) is None:
            return
    changing = [area for area in TRIGGERS if facts.declares(area, "listChanged")]
    for area in (*changing, *changing):
        changed = await _call(peer, TRIGGERS[area], {})
        if changed and await peer.wait_for(LISTS[area][0]) is None:
            return


# --- how it is judged


SEP: Final = "sep-2575-"
NO_META: Final = f"{SEP}request-meta-invalid-missing-meta"
MISSING_FIELD: Final = {
    VERSION_KEY: f"{SEP}request-meta-invalid-missing-protocol-version",
    CAPABILITIES_KEY: f"{SEP}request-meta-invalid-missing-client-capabilities",
}
META_STATUS: Final = f"{SEP}http-server-meta-invalid-400"
NO_CLIENT: Final = f"{SEP}request-meta-client-info-optional"
DISCOVERS: Final = f"{SEP}server-implements-discover"
IDENTIFIES: Final = f"{SEP}server-identifies-in-result-meta"
PROMPTS: Final = f"{SEP}server-declares-prompts-in-discover"
MATCHES: Final = f"{SEP}discover-capabilities-match-handlers"
VERSIONS: Final = f"{SEP}server-unsupported-version-error"
VERSION_STATUS: Final = f"{SEP}http-server-unsupported-version-400"
VERSION_DIFFERS: Final = f"{SEP}http-server-header-mismatch-400"
UNDECLARED: Final = f"{SEP}server-rejects-undeclared-capability"
UNDECLARED_STATUS: Final = f"{SEP}missing-capability-http-400"
NOT_FOUND: Final = f"{SEP}http-server-method-not-found-404"
NOT_FOUND_BY_METHOD: Final = {
    UNKNOWN: NOT_FOUND,
    **{method: f"{NOT_FOUND}-{name}" for method, name in REMOVED.items()},
}
NO_REQUESTS: Final = f"{SEP}http-server-no-independent-requests-on-stream"
NO_LOG: Final = f"{SEP}server-no-log-without-loglevel"
SAME_ID: Final = f"{SEP}http-server-error-jsonrpc-id"
ROWS: Final = (
    *(NO_META, *MISSING_FIELD.values(), META_STATUS, NO_CLIENT, DISCOVERS, IDENTIFIES, PROMPTS, MATCHES),
    *(VERSIONS, VERSION_STATUS, VERSION_DIFFERS, UNDECLARED, UNDECLARED_STATUS),
    *(*NOT_FOUND_BY_METHOD.values(), NO_REQUESTS, NO_LOG, *LISTEN_ROWS, SAME_ID),
)


@official_check("server-stateless", "Requests are self-describing", requirements=ROWS)
def judge_server_stateless(trace: Trace) -> Iterator[Observation]:
    yield from _judge_discovery(trace)
    yield from _judge_lists(trace)
    # A server that answers no discovery refuses for another reason.
    if declaration(trace) is not None:
        yield from _judge_incomplete(trace)
        yield from _judge_versions(trace)
        yield from _judge_not_found(trace)
    yield from _judge_undeclared(trace)
    yield from _judge_tools(trace)
    yield from judge_listening(trace)
    yield from _judge_ids(trace)


def _judge_discovery(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        if not is_of_revision(exchange, trace.revision) or exchange.answer is None:
            continue
        problem = _discovery_problem(exchange, trace.revision.date)
        expected = "`supportedVersions` with this version, and `capabilities`"
        yield observe(DISCOVERS, problem is None, exchange, expected=expected, observed=problem)
        if CLIENT_KEY not in exchange.meta:
            holds = exchange.result is not None and _status(exchange) in (None, 200)
            expected = "a result, although the client is not named"
            yield observe(NO_CLIENT, holds, exchange, expected=expected, observed=exchange)
        if exchange.result is not None:
            server = as_object(as_object(exchange.result.get("_meta")).get(SERVER_KEY))
            named = all(isinstance(server.get(key), str) for key in ("name", "version"))
            expected = f"`_meta` with {SERVER_KEY}: name and version"
            yield observe(IDENTIFIES, named, exchange, expected=expected, observed=str(server))


def _discovery_problem(exchange: Exchange, version: str) -> str | None:
    if exchange.result is None:
        return str(exchange)
    versions = exchange.items("supportedVersions")
    if version not in versions:
        return f"`supportedVersions` is {exchange.result.get('supportedVersions')!r}"
    capabilities = exchange.result.get("capabilities")
    return None if isinstance(capabilities, dict) else f"`capabilities` is {capabilities!r}"


def _judge_lists(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for exchange in trace.exchanges("prompts/list", "tools/list"):
        if declared is None or exchange.answer is None:
            continue
        area = exchange.method.partition("/")[0]
        is_declared = declared.has(area) or area in declared.capabilities
        is_unknown = exchange.code == METHOD_NOT_FOUND
        if area == "prompts":
            holds, expected = is_declared or is_unknown, "`prompts` among the capabilities"
            yield observe(PROMPTS, holds, declared, exchange, expected=expected, observed="none")
        if is_declared:
            is_list = isinstance((exchange.result or {}).get(area), list)
            expected = f"a list of {area}, which are declared"
            yield observe(MATCHES, is_list, declared, exchange, expected=expected, observed=exchange)
        elif area == "tools":
            expected = f"error {METHOD_NOT_FOUND}: `tools` is not declared"
            yield observe(MATCHES, is_unknown, declared, exchange, expected=expected, observed=exchange)


def _judge_incomplete(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        meta = exchange.params.get("_meta")
        absent = [name for key, name in MISSING_FIELD.items() if key not in as_object(meta)]
        reply = reply_to(exchange, trace)
        requirement = NO_META if meta is None else absent[0] if len(absent) == 1 else None
        if requirement is None or (reply is None and exchange.head is None):
            continue
        refused = reply is not None and reply.code == INVALID_PARAMS
        observed = outcome(exchange, reply)
        yield observe(requirement, refused, exchange, expected=f"error {INVALID_PARAMS}", observed=observed)
        yield from _judge_status(META_STATUS, exchange, observed)


def _judge_versions(trace: Trace) -> Iterator[Observation]:
    spoken = [
        version
        for exchange in trace.exchanges("server/discover")
        for version in exchange.items("supportedVersions")
        if is_of_revision(exchange, trace.revision)
    ]
    for exchange in trace.exchanges():
        reply = reply_to(exchange, trace)
        if exchange.meta.get(VERSION_KEY) != NO_VERSION or (reply is None and exchange.head is None):
            continue
        observed = outcome(exchange, reply)
        if exchange.head is not None and _header(exchange) != NO_VERSION:
            holds = _status(exchange) == 400 and reply is not None and reply.code == HEADER_MISMATCH
            expected = f"status 400 with error {HEADER_MISMATCH}: header and body differ"
            yield observe(VERSION_DIFFERS, holds, exchange, expected=expected, observed=observed)
            continue
        problem = _version_problem(reply, spoken)
        expected = f"error {UNSUPPORTED_VERSION} with `supported`, as in server/discover, and `requested`"
        yield observe(VERSIONS, problem is None, exchange, expected=expected, observed=problem)
        yield from _judge_status(VERSION_STATUS, exchange, observed)


def _version_problem(reply: Message | None, spoken: list[Any]) -> str | None:
    if reply is None or reply.code != UNSUPPORTED_VERSION:
        return str(reply or "no error")
    data = as_object(reply.error.get("data"))
    supported, requested = data.get("supported"), data.get("requested")
    if (
        not isinstance(supported, list)
        or not supported
        or any(version not in spoken for version in supported)
    ):
        return f"`data.supported` is {supported!r}"
    return None if requested == NO_VERSION else f"`data.requested` is {requested!r}"


def _judge_undeclared(trace: Trace) -> Iterator[Observation]:
    for exchange in _calls_of(NEEDS_SAMPLING, trace):
        if "sampling" in capabilities_of(exchange):
            holds = exchange.code != MISSING_CAPABILITY
            expected = "another reply to a client that declares `sampling`"
            yield observe(UNDECLARED, holds, exchange, expected=expected, observed=exchange)
            continue
        error = exchange.answer.error if exchange.answer is not None else {}
        required = as_object(error.get("data")).get("requiredCapabilities")
        named = isinstance(as_object(required).get("sampling"), dict)
        expected = f"error {MISSING_CAPABILITY} whose `data.requiredCapabilities` has `sampling`"
        holds = exchange.code == MISSING_CAPABILITY and named
        observed = f"{exchange}; `requiredCapabilities` {required!r}"
        yield observe(UNDECLARED, holds, exchange, expected=expected, observed=observed)
        yield from _judge_status(UNDECLARED_STATUS, exchange, str(exchange))


def _judge_not_found(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*NOT_FOUND_BY_METHOD):
        if exchange.head is not None:
            reply = reply_to(exchange, trace)
            holds = exchange.head.status == 404 and reply is not None and reply.code == METHOD_NOT_FOUND
            expected = f"status 404 with error {METHOD_NOT_FOUND}"
            requirement = NOT_FOUND_BY_METHOD[exchange.method]
            yield observe(requirement, holds, exchange, expected=expected, observed=outcome(exchange, reply))


def _judge_tools(trace: Trace) -> Iterator[Observation]:
    requests = [message for message in trace.received if message.shape is Shape.REQUEST]
    for exchange in _calls_of(ASKS, trace):
        holds = exchange.result is not None and not requests
        expected, observed = "a result, and no request of the server", next(iter(requests), exchange)
        yield observe(NO_REQUESTS, holds, exchange, *requests, expected=expected, observed=observed)
    # Only if the tool logs when requested.
    logs = [message for message in trace.received if message.method == "notifications/message"]
    for probe in trace.probes(UNASKED_LOG):
        extra = [message for message in probe.received if message in logs]
        if logs and any(answer.shape is Shape.RESULT for answer in probe.answers):
            expected = f"no log message: the request has no {LOG_LEVEL_KEY}"
            yield observe(NO_LOG, not extra, probe, *extra, expected=expected, observed=f"{len(extra)}")


def _calls_of(name: str, trace: Trace) -> Iterator[Exchange]:
    calls = (call for call in trace.exchanges("tools/call") if call.params.get("name") == name)
    return (call for call in calls if call.answer is not None)


def _judge_ids(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        request = request_of(call)
        for message in call.messages:
            if request is not None and message.error:
                holds = same_id(message.id, request.id)
                expected = f"the id of the request: {request.id!r}"
                yield observe(SAME_ID, holds, call, expected=expected, observed=repr(message.id))


def _header(exchange: Exchange) -> str | None:
    """The version in the head of an HTTP request."""
    return parse_head(exchange.request.frame.raw).get(VERSION)


def _status(exchange: Exchange) -> int | None:
    return None if exchange.head is None else exchange.head.status


def _judge_status(requirement: str, exchange: Exchange, observed: str) -> Iterator[Observation]:
    if exchange.head is not None:
        holds = exchange.head.status == 400
        yield observe(requirement, holds, exchange, expected="status 400", observed=observed)


# --- what the checks must catch


@on_reply("answers an error with the id null", breaks=SAME_ID, transports=HTTP_ONLY)
def error_without_id(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["id"] = None
    return reply


@on_call("prefers the version in the header", breaks=VERSION_DIFFERS)
def header_wins(request: Request, context: FaultContext) -> None:
    version = context.meta.get(VERSION_KEY)
    if version == NO_VERSION and request.header("mcp-protocol-version") != version:
        request.body = request.body.replace(NO_VERSION.encode(), context.revision.date.encode())


@on_response("refuses an incomplete request with status 200", breaks=META_STATUS)
def malformed_is_ok(response: Response, context: FaultContext) -> None:
    if CAPABILITIES_KEY not in context.meta:
        response.status = 200


@on_response("answers an unknown method with status 400", breaks=NOT_FOUND)
def unknown_is_bad_request(response: Response, context: FaultContext) -> None:
    response.status = 400 if context.method == UNKNOWN else response.status


@on_reply("elicits with a request", breaks=NO_REQUESTS)
def asks_by_request(reply: Json, context: FaultContext) -> list[Json]:
    if context.params.get("name") != ASKS or "result" not in reply:
        return [reply]
    form = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    params = {"message": "Please confirm", "requestedSchema": form}
    return [{"jsonrpc": "2.0", "id": "a question", "method": ELICIT, "params": params}, reply]


@on_response("refuses an unsupported version with status 200", breaks=VERSION_STATUS)
def no_such_version_is_ok(response: Response, context: FaultContext) -> None:
    if context.meta.get(VERSION_KEY) == NO_VERSION:
        response.status = 200


@on_response("refuses a missing capability with status 200", breaks=UNDECLARED_STATUS)
def capability_is_ok(response: Response, context: FaultContext) -> None:
    if context.params.get("name") == NEEDS_SAMPLING and response.status == 400:
        response.status = 200


@on_request("refuses a client that does not name itself", breaks=NO_CLIENT)
def strangers_refused(message: Json, context: FaultContext) -> Json | LocalAnswer:
    meta = meta_of(message)
    if CAPABILITIES_KEY not in meta or CLIENT_KEY in meta:
        return message
    return LocalAnswer([error_reply(message, INVALID_PARAMS, "no client name")])


@on_request("serves a request without capabilities", breaks=MISSING_FIELD[CAPABILITIES_KEY])
def capabilities_assumed(message: Json, context: FaultContext) -> Json:
    if message.get("method") == DISCOVER and "_meta" in params_of(message):
        meta_of(message).setdefault(CAPABILITIES_KEY, {})
    return message


@on_request("serves a request without `_meta`", breaks=NO_META)
def served_without_meta(message: Json, context: FaultContext) -> Json:
    if message.get("method") == DISCOVER:
        declared = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}}
        params_of(message).setdefault("_meta", declared)
    return message


@on_request("serves a request without a version", breaks=MISSING_FIELD[VERSION_KEY])
def version_assumed(message: Json, context: FaultContext) -> Json:
    if message.get("method") == DISCOVER and "_meta" in params_of(message):
        meta_of(message).setdefault(VERSION_KEY, context.revision.date)
    return message


@on_request("sends log messages that were not requested", breaks=NO_LOG)
def logs_unasked(message: Json, context: FaultContext) -> Json:
    if params_of(message).get("name") == LOGS:
        meta_of(message).setdefault(LOG_LEVEL_KEY, "debug")
    return message


@on_request("also refuses a client that declares `sampling`", breaks=UNDECLARED)
def capability_never_enough(message: Json, context: FaultContext) -> Json:
    if params_of(message).get("name") == NEEDS_SAMPLING:
        meta_of(message)[CAPABILITIES_KEY] = {}
    return message


@on_reply("does not name the missing capability", breaks=UNDECLARED)
def capability_unnamed(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        reply["error"]["data"] = {"requiredCapabilities": {"elicitation": {}}}
    return reply


@on_reply("refuses a version without repeating it", breaks=VERSIONS)
def version_not_repeated(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["data"]["requested"] = context.revision.date
    return reply


@on_reply("offers a version that it does not support", breaks=VERSIONS)
def versions_invented(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["data"]["supported"] = ["v1000.0.0"]
    return reply


def _answers(method: str) -> Saboteur:
    def change(message: Json, context: FaultContext) -> Json | LocalAnswer:
        if message.get("method") != method:
            return message
        return LocalAnswer([result_reply(message, {"resultType": "complete"})])

    saboteur: Saboteur = on_request(
        f"answers `{method}` as in earlier revisions",
        id=f"stateless.answers-{REMOVED[method]}",
        breaks=NOT_FOUND_BY_METHOD[method],
        transports=HTTP_ONLY,
    )(change)
    return saboteur


ANSWERS: Final = tuple(map(_answers, REMOVED))
RESULT_EDITS: Final = edited_results(
    DISCOVER,
    ("stateless.tools-unsaid", "serves tools without declaring them", MATCHES, "capabilities.tools", ABSENT),
    ("stateless.prompts-unsaid", "does not declare prompts", PROMPTS, "capabilities.prompts", ABSENT),
    ("stateless.nameless-server", "does not name itself", IDENTIFIES, ("_meta", SERVER_KEY), ABSENT),
    ("stateless.versions-unsaid", "names no versions in discovery", DISCOVERS, "supportedVersions", ABSENT),
)
