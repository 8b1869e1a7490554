"""The metadata with which each request describes its client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import with_meta, without
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Request, Trace, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_message, on_received, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import Handler
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import Transport
from assay.lab.suite.mirrored_header import VERSION, request_of
from assay.model.error import MISSING_CAPABILITY, UNSUPPORTED_VERSION
from assay.revisions.registry import HANDSHAKE

# --- what is asked


@official_scenario(
    "request-metadata",
    "Reject the version of the first request",
    script=ClientScript(
        steps=(LIST_TOOLS, LIST_TOOLS),
        capabilities=("elicitation", "sampling", "roots"),
        path="",
        any_capabilities=True,
    ),
    transports=CLIENTS,
)
async def drive_request_metadata(stage: ClientStage) -> None:
    stage.server.capabilities["tools"] = {}
    first = [True]

    def reject_first(handler: Handler) -> Handler:
        async def answer(cycle: RequestCycle) -> Answer:
            if cycle.id is not None and first:
                first.clear()
                versions = {
                    "supported": [cycle.revision.date],
                    "requested": str(cycle.meta.get(VERSION_KEY, "")),
                }
                raise AnswerError(UNSUPPORTED_VERSION, "Unsupported protocol version", versions)
            return await handler(cycle)

        return answer

    stage.server.handlers = {
        method: reject_first(handler) for method, handler in stage.server.handlers.items()
    }


# --- how it is judged


HEADER: Final = "sep-2575-http-client-sends-version-header"
META: Final = "sep-2575-client-populates-meta"
CLIENT: Final = "sep-2575-client-sends-client-info"
MATCH: Final = "sep-2575-http-version-header-matches-meta"
RETRY: Final = "sep-2575-client-retry-supported-version"
DECLARED: Final = {
    name: f"sep-2575-client-declares-{name}-capability" for name in ("roots", "sampling", "elicitation")
}


@official_check(
    "request-metadata",
    "Requests describe their client",
    requirements={
        HEADER: f"A request has no {VERSION} header",
        META: "A request has no version or capabilities in `_meta`",
        CLIENT: "A request does not name its client in `_meta`",
        MATCH: f"The {VERSION} header differs from `_meta`",
        **{id: f"The capability `{name}` is not declared as an object" for name, id in DECLARED.items()},
        RETRY: "The client did not retry with a supported version",
    },
)
def judge_request_metadata(trace: Trace) -> Iterator[Observation]:
    expected = dict.fromkeys((META, CLIENT), "a request")
    if trace.transport == Transport.HTTP:
        expected |= dict.fromkeys((HEADER, MATCH), f"a request with the header {VERSION}")
    yield from fail_unobserved(trace, _requests(trace), expected)


def _requests(trace: Trace) -> Iterator[Observation]:
    for inquiry in trace.subject_exchanges():
        yield from _described(inquiry.request)
    for call in trace.calls:
        if (message := request_of(call)) is not None:
            yield from _headers(call, message)
    yield from _retried(trace)


def _described(request: Message) -> Iterator[Observation]:
    meta = request.meta
    version, capabilities, client = (meta.get(key) for key in (VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY))
    observed = f"{request.method} with _meta {meta}"
    yield observe(
        META,
        isinstance(version, str) and bool(version) and isinstance(capabilities, dict),
        request,
        expected="a version and capabilities in _meta",
        observed=observed,
    )
    named = isinstance(client, dict) and all(isinstance(client.get(key), str) for key in ("name", "version"))
    yield observe(
        CLIENT, named, request, expected="the client's name and version in _meta", observed=observed
    )
    for name, requirement in DECLARED.items():
        if isinstance(capabilities, dict) and name in capabilities:
            value = capabilities[name]
            declared, expected = isinstance(value, dict), f"an object for {name}"
            yield observe(requirement, declared, request, expected=expected, observed=repr(value))


def _headers(call: Call, request: Message) -> Iterator[Observation]:
    header, version = call.sent.get(VERSION), request.meta.get(VERSION_KEY)
    observed = f"{VERSION} {header!r}, in _meta {version!r}"
    yield observe(HEADER, header is not None, call, expected=f"the header {VERSION}", observed=observed)
    if header is not None and version is not None:
        yield observe(MATCH, header == version, call, expected="the same version in both", observed=observed)


def _retried(trace: Trace) -> Iterator[Observation]:
    inquiries = list(trace.subject_exchanges())
    refused = next((inquiry for inquiry in inquiries if inquiry.code == UNSUPPORTED_VERSION), None)
    if refused is None:
        return
    later = [inquiry for inquiry in inquiries if inquiry.request.frame.n > refused.frames[-1].n]
    versions = [inquiry.request.meta.get(VERSION_KEY) for inquiry in later]
    yield observe(
        RETRY,
        trace.revision.date in versions,
        refused,
        *later[:1],
        expected=f"another request, with {trace.revision.date}",
        observed=f"versions {versions}" if later else "no request after the rejection",
    )


# --- what the checks must catch


@on_message("declares no capabilities in requests", breaks=META)
def meta_without_capabilities(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CAPABILITIES_KEY))


@on_received("does not retry after its version was rejected", breaks=RETRY)
def version_refused_for_good(message: Json, client: ScriptedClient) -> Json:
    if message.get("error", {}).get("code") != UNSUPPORTED_VERSION:
        return message
    return {**message, "error": {"code": MISSING_CAPABILITY, "message": "not understood"}}


@on_message("omits its name from requests", breaks=CLIENT)
def meta_without_client(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CLIENT_KEY))


@on_request("names another revision in the version header", breaks=MATCH)
def version_header_of_old(request: Request, client: ScriptedClient) -> Request:
    request.set(VERSION, HANDSHAKE[-1].date)
    return request


BEHAVIOURS: Final = (
    *(
        behaviour(
            f"core.{name}-declared-oddly",
            f"declares {name} as {form}",
            breaks=DECLARED[name],
            transports=EVERY,
            declares={name: value},
        )
        for name, form, value in (
            ("elicitation", "text", "form"),
            ("roots", "`true`", True),
            ("sampling", "a list", []),
        )
    ),
    behaviour("core.version-header-missing", "sends no version header", breaks=HEADER, sends_version=False),
)
