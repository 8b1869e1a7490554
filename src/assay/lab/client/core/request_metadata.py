"""What each request says about its client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.altered_message import with_meta, without
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Request, Trace, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_hearing, on_message, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import Handler
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import Transport
from assay.lab.suite.mirrored_header import VERSION, asked
from assay.model.error import MISSING_CAPABILITY, UNSUPPORTED_VERSION
from assay.revisions.registry import HANDSHAKE

# --- what is asked


@official_scenario(
    "request-metadata",
    "Every request describes itself, and a refused version is not the end",
    brief=Brief(steps=(LIST_TOOLS, LIST_TOOLS), capabilities=("elicitation", "sampling", "roots"), path=""),
    transports=CLIENTS,
)
async def drive_request_metadata(stage: ClientStage) -> None:
    unheard = [True]

    def refusing(handler: Handler) -> Handler:
        async def answered(cycle: RequestCycle) -> Answer:
            if cycle.id is not None and unheard:
                unheard.clear()
                versions = {
                    "supported": [cycle.revision.date],
                    "requested": str(cycle.meta.get(VERSION_KEY, "")),
                }
                raise Refused(UNSUPPORTED_VERSION, "Unsupported protocol version", versions)
            return await handler(cycle)

        return answered

    stage.host.handlers = {method: refusing(handler) for method, handler in stage.host.handlers.items()}


# --- how it is judged


HEADER = "sep-2575-http-client-sends-version-header"
META = "sep-2575-client-populates-meta"
CLIENT = "sep-2575-client-sends-client-info"
MATCH = "sep-2575-http-version-header-matches-meta"
DECLARED = {
    name: f"sep-2575-client-declares-{name}-capability" for name in ("roots", "sampling", "elicitation")
}
RETRY = "sep-2575-client-retry-supported-version"


@official_check(
    "request-metadata",
    "Requests describe themselves",
    requirements=(HEADER, META, CLIENT, MATCH, *DECLARED.values(), RETRY),
)
def judge_request_metadata(trace: Trace) -> Iterator[Observation]:
    owed = dict.fromkeys((META, CLIENT), "a request")
    if trace.transport == Transport.HTTP:
        owed |= dict.fromkeys((HEADER, MATCH), f"a request with the header {VERSION}")
    yield from fail_unobserved(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for inquiry in trace.inquiries():
        yield from _described(inquiry.request)
    for call in trace.calls:
        if (message := asked(call)) is not None:
            yield from _headers(call, message)
    yield from _retried(trace)


def _meta(message: Message) -> dict[str, Any]:
    meta = message.params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _described(request: Message) -> Iterator[Observation]:
    meta = _meta(request)
    version, capabilities, client = (meta.get(key) for key in (VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY))
    told = f"{request.method} with _meta {meta}"
    yield observe(
        META,
        isinstance(version, str) and bool(version) and isinstance(capabilities, dict),
        request,
        expected="a version and capabilities in _meta",
        observed=told,
    )
    named = isinstance(client, dict) and all(isinstance(client.get(key), str) for key in ("name", "version"))
    yield observe(CLIENT, named, request, expected="the client's name and version in _meta", observed=told)
    for name, row in DECLARED.items():
        if isinstance(capabilities, dict) and name in capabilities:
            value = capabilities[name]
            yield observe(
                row, isinstance(value, dict), request, expected=f"an object for {name}", observed=repr(value)
            )


def _headers(call: Call, request: Message) -> Iterator[Observation]:
    header, version = call.sent.get(VERSION), _meta(request).get(VERSION_KEY)
    told = f"{VERSION} {header!r}, in _meta {version!r}"
    yield observe(HEADER, header is not None, call, expected=f"the header {VERSION}", observed=told)
    if header is not None and version is not None:
        yield observe(MATCH, header == version, call, expected="the same in both places", observed=told)


def _retried(trace: Trace) -> Iterator[Observation]:
    refused = next((one for one in trace.inquiries() if one.code == UNSUPPORTED_VERSION), None)
    if refused is None:
        return
    later = [one for one in trace.inquiries() if one.request.frame.n > refused.frames[-1].n]
    versions = [_meta(one.request).get(VERSION_KEY) for one in later]
    yield observe(
        RETRY,
        trace.revision.date in versions,
        refused,
        *later[:1],
        expected=f"another request, with {trace.revision.date}",
        observed=f"versions {versions}" if later else "no request after the refusal",
    )


# --- what the checks must catch


@on_message("requests declare no capabilities", breaks="sep-2575-client-populates-meta")
def meta_without_capabilities(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CAPABILITIES_KEY))


@on_hearing("nothing is tried after a version was refused", breaks="sep-2575-client-retry-supported-version")
def version_refused_for_good(message: Json, client: ScriptedClient) -> Json:
    if message.get("error", {}).get("code") != UNSUPPORTED_VERSION:
        return message
    return {**message, "error": {"code": MISSING_CAPABILITY, "message": "not understood"}}


@on_message("requests do not name the client", breaks="sep-2575-client-sends-client-info")
def meta_without_client(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CLIENT_KEY))


@on_request("the version header names another revision", breaks="sep-2575-http-version-header-matches-meta")
def version_header_of_old(request: Request, client: ScriptedClient) -> Request:
    request.set("MCP-Protocol-Version", HANDSHAKE[-1].date)
    return request


BEHAVIOURS: Final = (
    behaviour(
        "core.elicitation-declared-oddly",
        "elicitation is declared with text",
        breaks="sep-2575-client-declares-elicitation-capability",
        transports=EVERY,
        declares={"elicitation": "form"},
    ),
    behaviour(
        "core.roots-declared-oddly",
        "roots is declared with true",
        breaks="sep-2575-client-declares-roots-capability",
        transports=EVERY,
        declares={"roots": True},
    ),
    behaviour(
        "core.sampling-declared-oddly",
        "sampling is declared with a list",
        breaks="sep-2575-client-declares-sampling-capability",
        transports=EVERY,
        declares={"sampling": []},
    ),
    behaviour(
        "core.version-header-missing",
        "requests have no version header",
        breaks="sep-2575-http-client-sends-version-header",
        sends_version=False,
    ),
)
