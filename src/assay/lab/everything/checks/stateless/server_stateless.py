"""Every request describes itself: one that does not is refused, and nothing outlives the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaring import official_check
from assay.lab.everything.listening_probe import ROWS as LISTENING
from assay.lab.everything.listening_probe import judge_listening
from assay.lab.everything.stateless_probe import (
    ASKS,
    NEEDS_SAMPLING,
    NO_VERSION,
    RETIRED,
    UNASKED_LOG,
    UNKNOWN,
)
from assay.lab.harness.driver.message_meta import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LOG_LEVEL_KEY,
    SERVER_KEY,
    VERSION_KEY,
)
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import VERSION, asked
from assay.lab.suite.self_description import as_object, capabilities_of, is_of, meta_of, reply_to, told
from assay.model.error import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
)

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
    *(*NOT_FOUND_ROWS.values(), NO_REQUESTS, NO_LOG, *LISTENING, SAME_ID),
)


@official_check("server-stateless", "Requests that describe themselves", rows=ROWS)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from _discovery(trace)
    yield from _lists(trace)
    # Who answers nothing at all refuses for another reason.
    if declaration(trace) is not None:
        yield from _incomplete(trace)
        yield from _versions(trace)
        yield from _not_found(trace)
    yield from _undeclared(trace)
    yield from _tools(trace)
    yield from judge_listening(trace)
    yield from _ids(trace)


def _discovery(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        if not is_of(exchange, trace.revision) or exchange.answer is None:
            continue
        problem = _undiscovered(exchange, trace.revision.date)
        expected = "`supportedVersions` with this version, and `capabilities`"
        yield observe(DISCOVERS, problem is None, exchange, expected=expected, observed=problem)
        if CLIENT_KEY not in meta_of(exchange):
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


def _incomplete(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        meta = exchange.params.get("_meta")
        absent = [row for key, row in LACKING.items() if key not in as_object(meta)]
        reply = reply_to(exchange, trace)
        row = NO_META if meta is None else absent[0] if len(absent) == 1 else None
        if row is None or (reply is None and exchange.head is None):
            continue
        refused = reply is not None and reply.code == INVALID_PARAMS
        said = told(exchange, reply)
        yield observe(row, refused, exchange, expected=f"error {INVALID_PARAMS}", observed=said)
        yield from _on_http(META_STATUS, exchange, 400, said)


def _versions(trace: Trace) -> Iterator[Observation]:
    spoken = [
        version
        for one in trace.exchanges("server/discover")
        for version in one.items("supportedVersions")
        if is_of(one, trace.revision)
    ]
    for exchange in trace.exchanges():
        reply = reply_to(exchange, trace)
        if meta_of(exchange).get(VERSION_KEY) != NO_VERSION or (reply is None and exchange.head is None):
            continue
        said = told(exchange, reply)
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
            yield observe(row, holds, exchange, expected=expected, observed=told(exchange, reply))


def _tools(trace: Trace) -> Iterator[Observation]:
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
        request = asked(call)
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
