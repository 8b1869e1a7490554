"""Manifests and registry entries, beside what the server lists."""

import json
from typing import Any

import pytest

from assay.lab.harness.subject.registry_entry import PROFILE, PUBLISHER, entry_of, profile_block
from assay.lab.harness.trace.digest import digest_of, digest_of_json
from assay.lab.harness.trace.frame import Kind, Sender
from assay.revisions.registry import HANDSHAKE
from tests.lab.marketplace.cap_judging import Said, http_trace, judged, told_by_http, trace_of, verdicts
from tests.lab.traces import request, result

TOOL = {"name": "t", "inputSchema": {"type": "object"}}
ENTRY: dict[str, Any] = {"name": "t", "scopes": [], "inputSchemaHash": digest_of_json(TOOL["inputSchema"])}
PROMPT = {"name": "p", "_meta": {"dev.assay/version": {"semver": "1.0.0", "digest": digest_of(b"p")}}}
LISTS: dict[str, list[dict[str, Any]]] = {
    "tools": [TOOL],
    "resources": [{"name": "r", "uri": "note:///r"}],
    "prompts": [PROMPT],
}


def listing(kind: str, items: list[Any]) -> list[Any]:
    channel = f"1/post-{kind}"
    asked = b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n" + json.dumps(request(1, f"{kind}/list")).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    body = json.dumps(result(1, **{kind: items})).encode()
    return [
        (Sender.DRIVER, channel, Kind.REQUEST, asked),
        (Sender.SUBJECT, channel, Kind.HEAD, head),
        (Sender.SUBJECT, channel, Kind.BODY, body),
    ]


def manifest(kind: str, value: Any, **options: Any) -> Any:
    return told_by_http(f"/.well-known/mcp-{kind}", json.dumps(value).encode(), **options)


def form(kind: str, value: Any, **options: Any) -> str:
    return verdicts("manifests", http_trace(*manifest(kind, value, **options)))["manifests.form"]


def test_a_manifest_of_unique_entries_passes() -> None:
    assert form("tools", [ENTRY, {**ENTRY, "name": "u", "of": "the future"}]) == "SUCCESS"
    assert form("prompts", []) == "SUCCESS"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("tools", {"tools": [ENTRY]}),
        ("tools", ["t"]),
        ("tools", [ENTRY, ENTRY]),
        ("tools", [{**ENTRY, "scopes": "read"}]),
        ("tools", [{**ENTRY, "description": 1}]),
        ("tools", [{"name": "t", "scopes": []}]),
        ("resources", [{"name": "r", "uri": "note:///r", "scopes": [], "retention": "forever"}]),
        ("prompts", [{"name": "p", "version": "1", "digest": digest_of(b""), "scopes": []}]),
    ],
)
def test_a_manifest_in_another_form_is_found(kind: str, value: Any) -> None:
    assert form(kind, value) == "FAILURE"


def test_a_manifest_that_is_no_document_of_json_is_found() -> None:
    assert form("tools", [], status="404 Not Found") == "FAILURE"
    assert form("tools", [], media="text/html") == "FAILURE"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([ENTRY], "SUCCESS"),
        ([], "FAILURE"),
        ([ENTRY, {**ENTRY, "name": "u"}], "FAILURE"),
        ([{**ENTRY, "inputSchemaHash": digest_of(b"")}], "FAILURE"),
    ],
)
def test_tools_of_a_manifest_are_those_of_the_list(told: Any, expected: str) -> None:
    trace = http_trace(*listing("tools", [TOOL]), *manifest("tools", told))
    assert verdicts("manifests", trace)["manifests.agree"] == expected


def test_versions_of_a_manifest_are_those_of_the_list() -> None:
    told = {"name": "p", "version": "0.9.0", "digest": digest_of(b"p"), "scopes": []}
    trace = http_trace(*listing("prompts", [PROMPT]), *manifest("prompts", [told]))
    finding = judged("manifests", trace)["manifests.agree"].findings[0]
    assert finding.observed == "version of 'p' is '0.9.0', live '1.0.0'"


def entry(**changed: Any) -> dict[str, Any]:
    block = profile_block(entry_of(LISTS, [HANDSHAKE[-1].date]))
    return {"_meta": {PUBLISHER: {PROFILE: {**block, **changed}}}}


def registry(given: dict[str, Any], *said: Said) -> str:
    lists: list[Said] = [(f"{kind}/list", {}, {kind: items}) for kind, items in LISTS.items()]
    trace = trace_of(*(said or lists), marks=({"label": "registry", "entry": given},))
    return verdicts("registry", trace)["registry.agree"]


def test_a_true_entry_passes() -> None:
    assert registry(entry()) == "SUCCESS"


@pytest.mark.parametrize(
    "changed",
    [
        {"transports": ["streamable-http"]},
        {"protocolVersions": [HANDSHAKE[0].date]},
        {"jsonrpc": {}},
        {"capabilities": {}},
    ],
)
def test_an_entry_that_lies_is_found(changed: dict[str, Any]) -> None:
    assert registry(entry(**changed)) == "FAILURE"


def test_an_entry_without_the_block_is_found() -> None:
    assert registry({"name": "com.example/x"}) == "FAILURE"


@pytest.mark.parametrize(("moving", "expected"), [(True, "SUCCESS"), (False, "FAILURE")])
def test_resources_may_come_and_go_where_the_server_says_so(moving: bool, expected: str) -> None:
    opening: Said = ("initialize", {}, {"capabilities": {"resources": {"listChanged": moving}}})
    assert registry(entry(), opening, ("resources/list", {}, {"resources": []})) == expected
