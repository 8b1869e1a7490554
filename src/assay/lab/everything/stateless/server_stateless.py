"""Self-describing requests: versions, `_meta`, discovery, listen streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fault import names
from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    observe,
    on_call,
    on_reply,
    on_request,
    on_response,
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
from assay.lab.harness.trace.declaration import declaration
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
    request_meta,
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
"""A version that nobody speaks."""
NEEDS_SAMPLING: Final = "test_missing_capability"
ASKS: Final = "test_streaming_elicitation"
LOGS: Final = "test_logging_tool"
UNASKED_LOG: Final = "unasked log"
"""The probe of a call that asks for no log messages."""
UNKNOWN: Final = "unknown/method"
RETIRED: Final = {
    "initialize": "initialize",
    "ping": "ping",
    "logging/setLevel": "logging-setlevel",
    "resources/subscribe": "resources-subscribe",
    "resources/unsubscribe": "resources-unsubscribe",
}
"""Methods of earlier revisions, each with its name in a check's id."""


# --- what is asked


DISCOVER: Final = "server/discover"
TRIGGERS: Final = {"tools": "test_trigger_tool_change", "prompts": "test_trigger_prompt_change"}
"""Fixtures that make the server tell of a change; they need not be listed."""


@official_scenario("server-stateless", "Requests that describe themselves")
async def drive_server_stateless(stage: Stage) -> None:
    peer = await stage.open()
    for method in (DISCOVER, "prompts/list", "tools/list"):
        await peer.request(method)
    await peer.request(DISCOVER, {"_meta": {CLIENT_KEY: None}})
    await _incomplete(peer)
    await peer.request(DISCOVER, {"_meta": {VERSION_KEY: NO_VERSION}})
    if stage.transport is Transport.HTTP:
        differs = {VERSION: stage.revision.date}
        await peer.request(DISCOVER, {"_meta": {VERSION_KEY: NO_VERSION}}, headers=differs)
        for method in (*RETIRED, UNKNOWN):
            await peer.request(method, {})
    await _tools(peer, stage.facts)
    await _listen(peer, stage.facts)


async def _incomplete(peer: Peer) -> None:
    """Without `_meta`, without a version, without capabilities; headers still say which revision it is."""
    number = peer.next_id()
    pending = peer.expect(DISCOVER, number)
    pending.sent = await peer.send({"jsonrpc": "2.0", "id": number, "method": DISCOVER, "params": {}})
    await peer.answer(pending)
    for key in (VERSION_KEY, CAPABILITIES_KEY):
        await peer.request(DISCOVER, {"_meta": {key: None}}, headers={VERSION: peer.revision.date})


async def _tools(peer: Peer, facts: Facts) -> None:
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
    """Whether it was done."""
    peer.capabilities = capabilities
    reply = await peer.request("tools/call", {"name": name, "arguments": {}, **more})
    peer.capabilities = {}
    return reply.is_result and reply.result.get("isError") is not True


async def _listen(peer: Peer, facts: Facts) -> None:
    """One listener for each list. Each list changes twice, so that each listener hears of it last once."""
    for area in TRIGGERS:
        pending = await peer.start(LISTEN, {"notifications": {f"{area}ListChanged": True}})
        if await peer.wait_for(ACKNOWLEDGED, during=pending) is None:
            return
    told = [area for area in TRIGGERS if facts.declares(area, "listChanged")]
    for area in (*told, *told):
        changed = await _call(peer, TRIGGERS[area], {})
        if changed and await peer.wait_for(LISTS[area][0]) is None:
            return


# --- how it is judged


SEP: Final = "sep-2575-"
NO_META: Final = f"{SEP}request-meta-invalid-missing-meta"
LACKING: Final = {
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
NOT_FOUND_ROWS: Final = {
    UNKNOWN: NOT_FOUND,
    **{method: f"{NOT_FOUND}-{name}" for method, name in RETIRED.items()},
}
NO_REQUESTS: Final = f"{SEP}http-server-no-independent-requests-on-stream"
NO_LOG: Final = f"{SEP}server-no-log-without-loglevel"
SAME_ID: Final = f"{SEP}http-server-error-jsonrpc-id"
ROWS: Final = (
    *(NO_META, *LACKING.values(), META_STATUS, NO_CLIENT, DISCOVERS, IDENTIFIES, PROMPTS, MATCHES),
    *(VERSIONS, VERSION_STATUS, VERSION_DIFFERS, UNDECLARED, UNDECLARED_STATUS),
    *(*NOT_FOUND_ROWS.values(), NO_REQUESTS, NO_LOG, *LISTEN_ROWS, SAME_ID),
)


@official_check("server-stateless", "Requests that describe themselves", requirements=ROWS)
def judge_server_stateless(trace: Trace) -> Iterator[Observation]:
    yield from _discovery(trace)
    yield from _lists(trace)
    # Who answers nothing at all refuses for another reason.
    if declaration(trace) is not None:
        yield from _server_stateless_incomplete(trace)
        yield from _versions(trace)
        yield from _not_found(trace)
    yield from _undeclared(trace)
    yield from _server_stateless_tools(trace)
    yield from judge_listening(trace)
    yield from _ids(trace)


def _discovery(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        if not is_of_revision(exchange, trace.revision) or exchange.answer is None:
            continue
        problem = _undiscovered(exchange, trace.revision.date)
        expected = "`supportedVersions` with this version, and `capabilities`"
        yield observe(DISCOVERS, problem is None, exchange, expected=expected, observed=problem)
        if CLIENT_KEY not in request_meta(exchange):
            holds = exchange.result is not None and _status(exchange) in (None, 200)
            expected = "a result, though the client is not named"
            yield observe(NO_CLIENT, holds, exchange, expected=expected, observed=exchange)
        if exchange.result is not None:
            server = as_object(as_object(exchange.result.get("_meta")).get(SERVER_KEY))
            named = all(isinstance(server.get(key), str) for key in ("name", "version"))
            expected = f"`_meta` with {SERVER_KEY}: name and version"
            yield observe(IDENTIFIES, named, exchange, expected=expected, observed=str(server))


def _undiscovered(exchange: Exchange, version: str) -> str | None:
    if exchange.result is None:
        return str(exchange)
    versions = exchange.items("supportedVersions")
    if version not in versions:
        return f"`supportedVersions` is {exchange.result.get('supportedVersions')!r}"
    capabilities = exchange.result.get("capabilities")
    return None if isinstance(capabilities, dict) else f"`capabilities` is {capabilities!r}"


def _lists(trace: Trace) -> Iterator[Observation]:
    said = declaration(trace)
    for exchange in trace.exchanges("prompts/list", "tools/list"):
        if said is None or exchange.answer is None:
            continue
        area = exchange.method.partition("/")[0]
        declared, unknown = said.has(area) or area in said.capabilities, exchange.code == METHOD_NOT_FOUND
        if area == "prompts":
            expected = "`prompts` among the capabilities: they can be listed"
            yield observe(PROMPTS, declared or unknown, said, exchange, expected=expected, observed="none")
        if declared:
            listed = isinstance((exchange.result or {}).get(area), list)
            expected = f"a list of {area}, which are declared"
            yield observe(MATCHES, listed, said, exchange, expected=expected, observed=exchange)
        elif area == "tools":
            expected = f"error {METHOD_NOT_FOUND}: `tools` is not declared"
            yield observe(MATCHES, unknown, said, exchange, expected=expected, observed=exchange)


def _server_stateless_incomplete(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        meta = exchange.params.get("_meta")
        absent = [row for key, row in LACKING.items() if key not in as_object(meta)]
        reply = reply_to(exchange, trace)
        row = NO_META if meta is None else absent[0] if len(absent) == 1 else None
        if row is None or (reply is None and exchange.head is None):
            continue
        refused = reply is not None and reply.code == INVALID_PARAMS
        said = outcome(exchange, reply)
        yield observe(row, refused, exchange, expected=f"error {INVALID_PARAMS}", observed=said)
        yield from _on_http(META_STATUS, exchange, 400, said)


def _versions(trace: Trace) -> Iterator[Observation]:
    spoken = [
        version
        for one in trace.exchanges("server/discover")
        for version in one.items("supportedVersions")
        if is_of_revision(one, trace.revision)
    ]
    for exchange in trace.exchanges():
        reply = reply_to(exchange, trace)
        if request_meta(exchange).get(VERSION_KEY) != NO_VERSION or (reply is None and exchange.head is None):
            continue
        said = outcome(exchange, reply)
        if exchange.head is not None and _header(exchange) != NO_VERSION:
            holds = _status(exchange) == 400 and reply is not None and reply.code == HEADER_MISMATCH
            expected = f"status 400 with error {HEADER_MISMATCH}: header and body differ"
            yield observe(VERSION_DIFFERS, holds, exchange, expected=expected, observed=said)
            continue
        problem = _misinformed(reply, spoken)
        expected = f"error {UNSUPPORTED_VERSION} with `supported`, as in server/discover, and `requested`"
        yield observe(VERSIONS, problem is None, exchange, expected=expected, observed=problem)
        yield from _on_http(VERSION_STATUS, exchange, 400, said)


def _misinformed(reply: Message | None, spoken: list[Any]) -> str | None:
    if reply is None or reply.code != UNSUPPORTED_VERSION:
        return str(reply or "no error")
    data = as_object(reply.error.get("data"))
    supported, requested = data.get("supported"), data.get("requested")
    if not isinstance(supported, list) or not supported or any(one not in spoken for one in supported):
        return f"`data.supported` is {supported!r}"
    return None if requested == NO_VERSION else f"`data.requested` is {requested!r}"


def _undeclared(trace: Trace) -> Iterator[Observation]:
    for exchange in _calls_of(NEEDS_SAMPLING, trace):
        if "sampling" in capabilities_of(exchange):
            holds = exchange.code != MISSING_CAPABILITY
            expected = "no such error for a client that declares `sampling`"
            yield observe(UNDECLARED, holds, exchange, expected=expected, observed=exchange)
            continue
        error = exchange.answer.error if exchange.answer is not None else {}
        required = as_object(error.get("data")).get("requiredCapabilities")
        named = isinstance(as_object(required).get("sampling"), dict)
        expected = f"error {MISSING_CAPABILITY} whose `data.requiredCapabilities` has `sampling`"
        holds = exchange.code == MISSING_CAPABILITY and named
        observed = f"{exchange}; `requiredCapabilities` {required!r}"
        yield observe(UNDECLARED, holds, exchange, expected=expected, observed=observed)
        yield from _on_http(UNDECLARED_STATUS, exchange, 400, str(exchange))


def _not_found(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*NOT_FOUND_ROWS):
        if exchange.head is not None:
            reply = reply_to(exchange, trace)
            holds = exchange.head.status == 404 and reply is not None and reply.code == METHOD_NOT_FOUND
            expected = f"status 404 with error {METHOD_NOT_FOUND}"
            row = NOT_FOUND_ROWS[exchange.method]
            yield observe(row, holds, exchange, expected=expected, observed=outcome(exchange, reply))


def _server_stateless_tools(trace: Trace) -> Iterator[Observation]:
    for exchange in _calls_of(ASKS, trace):
        requests = [one for one in trace.received if one.shape is Shape.REQUEST]
        holds = exchange.result is not None and not requests
        expected, observed = "a result, and no request of the server", next(iter(requests), exchange)
        yield observe(NO_REQUESTS, holds, exchange, *requests, expected=expected, observed=observed)
    # A tool that never logs shows nothing.
    logs = [one for one in trace.received if one.method == "notifications/message"]
    for probe in trace.probes(UNASKED_LOG):
        unasked = [one for one in probe.received if one in logs]
        served = any(one.shape is Shape.RESULT for one in probe.answers)
        if served and logs:
            expected = f"no log message: the request has no {LOG_LEVEL_KEY}"
            yield observe(NO_LOG, not unasked, probe, *unasked, expected=expected, observed=f"{len(unasked)}")


def _calls_of(name: str, trace: Trace) -> Iterator[Exchange]:
    called = (one for one in trace.exchanges("tools/call") if one.params.get("name") == name)
    return (one for one in called if one.answer is not None)


def _ids(trace: Trace) -> Iterator[Observation]:
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


def _on_http(row: str, exchange: Exchange, status: int, said: str) -> Iterator[Observation]:
    if exchange.head is not None:
        holds = exchange.head.status == status
        yield observe(row, holds, exchange, expected=f"status {status}", observed=said)


# --- what the checks must catch


@on_reply("tools are served and not declared", breaks="sep-2575-discover-capabilities-match-handlers")
def tools_unsaid(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).get("capabilities", {}).pop("tools", None)
    return reply


@on_reply("an error has the id null", breaks="sep-2575-http-server-error-jsonrpc-id", transports=HTTP_ONLY)
def error_without_id(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["id"] = None
    return reply


@on_call("a version in the header overrides the body's", breaks="sep-2575-http-server-header-mismatch-400")
def header_wins(request: Request, context: FaultContext) -> None:
    told = context.meta.get(VERSION_KEY)
    if told == NO_VERSION and request.header("mcp-protocol-version") != told:
        request.body = request.body.replace(NO_VERSION.encode(), context.revision.date.encode())


@on_response(
    "a request that lacks something is refused with status 200",
    breaks="sep-2575-http-server-meta-invalid-400",
)
def malformed_is_ok(response: Response, context: FaultContext) -> None:
    if CAPABILITIES_KEY not in context.meta:
        response.status = 200


@on_response(
    "a method that does not exist gets status 400", breaks="sep-2575-http-server-method-not-found-404"
)
def unknown_is_bad_request(response: Response, context: FaultContext) -> None:
    response.status = 400 if context.method == UNKNOWN else response.status


@on_reply(
    "a tool asks its user by a request", breaks="sep-2575-http-server-no-independent-requests-on-stream"
)
def asks_by_request(reply: Json, context: FaultContext) -> list[Json]:
    if context.params.get("name") != ASKS or "result" not in reply:
        return [reply]
    form = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    params = {"message": "Please confirm", "requestedSchema": form}
    return [{"jsonrpc": "2.0", "id": "a question", "method": ELICIT, "params": params}, reply]


@on_response(
    "a version that is not spoken is refused with status 200",
    breaks="sep-2575-http-server-unsupported-version-400",
)
def no_such_version_is_ok(response: Response, context: FaultContext) -> None:
    if context.meta.get(VERSION_KEY) == NO_VERSION:
        response.status = 200


@on_response("a missing capability is refused with status 200", breaks="sep-2575-missing-capability-http-400")
def capability_is_ok(response: Response, context: FaultContext) -> None:
    if context.params.get("name") == NEEDS_SAMPLING and response.status == 400:
        response.status = 200


@on_request(
    "a client that does not name itself is refused", breaks="sep-2575-request-meta-client-info-optional"
)
def strangers_refused(message: Json, context: FaultContext) -> Json | LocalAnswer:
    meta = meta_of(message)
    if CAPABILITIES_KEY not in meta or CLIENT_KEY in meta:
        return message
    error = {"code": INVALID_PARAMS, "message": "who are you?"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_request(
    "a request without capabilities is served",
    breaks="sep-2575-request-meta-invalid-missing-client-capabilities",
)
def capabilities_assumed(message: Json, context: FaultContext) -> Json:
    meta = params_of(message).get("_meta")
    if message.get("method") == "server/discover" and meta is not None:
        meta.setdefault(CAPABILITIES_KEY, {})
    return message


@on_request("a request without `_meta` is served", breaks="sep-2575-request-meta-invalid-missing-meta")
def served_without_meta(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "server/discover":
        declared = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}}
        params_of(message).setdefault("_meta", declared)
    return message


@on_request(
    "a request without a version is served", breaks="sep-2575-request-meta-invalid-missing-protocol-version"
)
def version_assumed(message: Json, context: FaultContext) -> Json:
    meta = params_of(message).get("_meta")
    if message.get("method") == "server/discover" and meta is not None:
        meta.setdefault(VERSION_KEY, context.revision.date)
    return message


@on_reply("prompts are not declared", breaks="sep-2575-server-declares-prompts-in-discover")
def prompts_unsaid(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).get("capabilities", {}).pop("prompts", None)
    return reply


@on_reply("the server does not say its name", breaks="sep-2575-server-identifies-in-result-meta")
def nameless_server(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).get("_meta", {}).pop(SERVER_KEY, None)
    return reply


@on_reply("`server/discover` names no versions", breaks="sep-2575-server-implements-discover")
def versions_unsaid(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).pop("supportedVersions", None)
    return reply


@on_request("log messages come to those who did not ask", breaks="sep-2575-server-no-log-without-loglevel")
def logs_unasked(message: Json, context: FaultContext) -> Json:
    if names(message, LOGS):
        message["params"]["_meta"].setdefault(LOG_LEVEL_KEY, "debug")
    return message


@on_request(
    "a client that declares `sampling` is refused as well",
    breaks="sep-2575-server-rejects-undeclared-capability",
)
def capability_never_enough(message: Json, context: FaultContext) -> Json:
    if names(message, NEEDS_SAMPLING):
        message["params"]["_meta"][CAPABILITIES_KEY] = {}
    return message


@on_reply(
    "an error does not say which capability is missing",
    breaks="sep-2575-server-rejects-undeclared-capability",
)
def capability_unnamed(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        reply["error"]["data"] = {"requiredCapabilities": {"elicitation": {}}}
    return reply


@on_reply("a refusal does not say what was wanted", breaks="sep-2575-server-unsupported-version-error")
def version_not_repeated(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["data"]["requested"] = context.revision.date
    return reply


@on_reply("a refusal offers a version that is not spoken", breaks="sep-2575-server-unsupported-version-error")
def versions_invented(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["data"]["supported"] = ["v1000.0.0"]
    return reply


def _answers(method: str) -> Saboteur:
    name = method.replace("/", "-").lower()

    def change(message: Json, context: FaultContext) -> Json | LocalAnswer:
        if message.get("method") != method:
            return message
        return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}])

    saboteur: Saboteur = on_request(
        f"`{method}` is answered as in earlier revisions",
        id=f"stateless.answers-{name}",
        breaks=f"{SEP}http-server-method-not-found-404-{name}",
        transports=HTTP_ONLY,
    )(change)
    return saboteur


ANSWERS: Final = (
    _answers("initialize"),
    _answers("logging/setLevel"),
    _answers("ping"),
    _answers("resources/subscribe"),
    _answers("resources/unsubscribe"),
)
