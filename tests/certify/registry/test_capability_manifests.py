"""Capability manifests: errors, warnings about unknown members, and drift from the live lists."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.certify.registry.capability_manifests import KINDS, MAX_BYTES, disagreements, manifest_entry, read
from assay.lab.harness.trace.digest import digest_of_json

DIGEST = "sha256:" + "0f" * 32
GOOD: dict[str, dict[str, Any]] = {
    "tools": {
        "name": "write",
        "title": "Write",
        "description": "Writes",
        "scopes": ["write"],
        "inputSchemaHash": DIGEST,
        "annotations": {"readOnlyHint": False},
    },
    "resources": {
        "name": "a",
        "uri": "file:///a",
        "mimeType": "text/plain",
        "scopes": [],
        "retention": "short-30d",
    },
    "prompts": {
        "name": "review",
        "version": "1.2.0",
        "description": "Reviews",
        "digest": DIGEST,
        "scopes": [],
    },
}
BARE: dict[str, dict[str, Any]] = {
    "tools": {"name": "write"},
    "resources": {"name": "a"},
    "prompts": {"name": "p", "version": "0.1.0"},
}


def severities(kind: str, value: Any) -> list[str]:
    return [issue.severity for issue in read(kind, json.dumps(value).encode())[1]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_valid_manifest_has_no_issues(kind: str) -> None:
    assert read(kind, json.dumps([GOOD[kind]]).encode()) == ([GOOD[kind]], [])
    assert severities(kind, [BARE[kind]]) == []
    assert severities(kind, []) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_member_is_a_warning(kind: str) -> None:
    assert severities(kind, [{**BARE[kind], "novelty": 1}]) == ["warning"]


@pytest.mark.parametrize(
    ("kind", "edit"),
    [
        ("tools", {"name": 7}),
        ("tools", {"name": ""}),
        ("tools", {"scopes": "write"}),
        ("tools", {"scopes": [1]}),
        ("tools", {"inputSchemaHash": "0f" * 32}),
        ("tools", {"annotations": []}),
        ("tools", {"description": None}),
        ("resources", {"uri": 1}),
        ("resources", {"retention": "forever"}),
        ("prompts", {"version": "1.2"}),
        ("prompts", {"version": 1}),
        ("prompts", {"digest": "md5:00"}),
    ],
)
def test_a_wrong_type_is_an_error(kind: str, edit: dict[str, Any]) -> None:
    assert severities(kind, [{**BARE[kind], **edit}]) == ["error"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_member_is_an_error(kind: str) -> None:
    assert set(severities(kind, [{}])) == {"error"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_duplicate_name_is_an_error(kind: str) -> None:
    assert severities(kind, [BARE[kind], BARE[kind]]) == ["error"]


def test_resources_may_share_a_name_but_not_a_uri() -> None:
    first, second = {"name": "a", "uri": "x:1"}, {"name": "a", "uri": "x:2"}
    assert severities("resources", [first, second]) == []
    assert severities("resources", [first, first]) == ["error"]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b" " * (MAX_BYTES + 1)])
def test_a_manifest_must_be_json(data: bytes) -> None:
    entries, (issue,) = read("tools", data)
    assert (entries, issue.type, issue.severity) == ([], "json", "error")


@pytest.mark.parametrize("value", [{}, None, "x", {"tools": []}])
def test_a_manifest_must_be_an_array(value: Any) -> None:
    assert severities("tools", value) == ["error"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(KINDS), json_values)
def test_any_json_value_can_be_read(kind: str, value: Any) -> None:
    read(kind, json.dumps(value).encode())


def test_generated_manifest_entries_agree_with_the_lists() -> None:
    live: dict[str, list[dict[str, Any]]] = {
        "tools": [{"name": "a", "inputSchema": {"type": "object"}, "annotations": {}}, {"name": "b"}],
        "resources": [{"name": "r", "uri": "x:1"}],
        "prompts": [{"name": "p", "_meta": {"dev.assay/version": {"semver": "1.0.0", "digest": DIGEST}}}],
    }
    for kind, items in live.items():
        entries = [manifest_entry(kind, item) for item in items]
        assert disagreements(kind, entries, items) == []


def test_drift_is_found() -> None:
    listed = [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {}}]
    entries = [{"name": "a", "inputSchemaHash": digest_of_json({})}, {"name": "c"}]
    issues = {(issue.path, issue.message.split(",")[0]) for issue in disagreements("tools", entries, listed)}
    assert {path for path, _ in issues} == {"a.inputSchemaHash", "b", "c"}
