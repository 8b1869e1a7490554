"""Each request says which revision it speaks, who sends it and what that client can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import VERSION, asked
from assay.model.error import UNSUPPORTED_VERSION

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
    rows=(HEADER, META, CLIENT, MATCH, *DECLARED.values(), RETRY),
)
def judge(trace: Trace) -> Iterator[Observation]:
    owed = dict.fromkeys((META, CLIENT), "a request")
    if trace.transport == Transport.HTTP:
        owed |= dict.fromkeys((HEADER, MATCH), f"a request with the header {VERSION}")
    yield from with_owed(trace, _seen(trace), owed)


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
