"""Revisions are values: each is its predecessor plus a delta."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from mcp_types.methods import CACHEABLE_METHODS, CLIENT_NOTIFICATIONS, CLIENT_REQUESTS
from msgspec.structs import fields

from assay.revisions.registry import BY_DATE, HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import (
    Asking,
    BadArguments,
    Batching,
    HttpRules,
    Opening,
    Results,
    Revision,
    Structured,
)

FIRST = {
    "opening": Opening.HANDSHAKE,
    "asking": Asking.BY_REQUEST,
    "batching": Batching.REFUSED,
    "bad_arguments": BadArguments.RPC_ERROR,
    "structured": Structured.ABSENT,
    "resource_not_found": -32002,
    "results": Results.PLAIN,
    "cacheable": set(),
    "missing_capability": None,
    "logs_on_demand": False,
    "elicitation_ids": True,
    "content": {"text", "image", "resource"},
    "elicitation": set(),
    "multi_select": False,
    "sampling_tools": False,
    "capabilities": {"experimental", "logging", "prompts", "resources", "tools"},
}
# The changelog of each revision, as features.
CHANGES: dict[str, dict[str, Any]] = {
    "2024-11-05": {},
    "2025-03-26": {
        "batching": Batching.ACCEPTED,
        "content": {"text", "image", "resource", "audio"},
        "capabilities": {"completions", "experimental", "logging", "prompts", "resources", "tools"},
    },
    "2025-06-18": {
        "batching": Batching.REFUSED,
        "structured": Structured.OBJECT,
        "content": {"text", "image", "resource", "audio", "resource_link"},
        "elicitation": {"form"},
    },
    "2025-11-25": {
        "bad_arguments": BadArguments.TOOL_ERROR,
        "elicitation": {"form", "url"},
        "multi_select": True,
        "sampling_tools": True,
    },
    "2026-07-28": {
        "opening": Opening.PER_REQUEST,
        "asking": Asking.BY_RETRY,
        "structured": Structured.ANY,
        "resource_not_found": -32602,
        "results": Results.TYPED,
        "cacheable": CACHEABLE_METHODS,
        "missing_capability": -32021,
        "logs_on_demand": True,
        "elicitation_ids": False,
        "capabilities": {
            "completions",
            "experimental",
            "extensions",
            "logging",
            "prompts",
            "resources",
            "tools",
        },
    },
}


def features(date: str) -> dict[str, Any]:
    expected = dict(FIRST)
    for known, changes in CHANGES.items():
        expected |= changes
        if known == date:
            return expected
    raise AssertionError(f"not a date of this table: {date}")


@pytest.mark.parametrize("date", CHANGES)
def test_revision_has_the_features_of_its_changelog(date: str) -> None:
    revision = BY_DATE[date]
    assert {name: getattr(revision, name) for name in FIRST} == features(date)


@pytest.mark.parametrize(
    ("date", "version_header", "priming"),
    [
        ("2024-11-05", False, False),
        ("2025-03-26", False, False),
        ("2025-06-18", True, False),
        ("2025-11-25", True, True),
    ],
)
def test_revision_has_the_http_rules_of_its_changelog(date: str, version_header: bool, priming: bool) -> None:
    rules = BY_DATE[date].http
    assert {field.name: getattr(rules, field.name) for field in fields(HttpRules)} == {
        "sessions": True,
        "resumable": True,
        "priming": priming,
        "version_header": version_header,
        "disconnect_cancels": False,
        "mirrored": None,
        "statuses": {-32700: 400, -32600: 400},
    }


def test_revision_without_a_handshake_has_http_rules_of_its_own() -> None:
    (revision,) = PER_REQUEST
    assert {field.name: getattr(revision.http, field.name) for field in fields(HttpRules)} == {
        "sessions": False,
        "resumable": False,
        "priming": False,
        "version_header": False,
        "disconnect_cancels": True,
        "mirrored": {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"},
        "statuses": {-32700: 400, -32600: 400, -32020: 400, -32021: 400, -32022: 400, -32601: 404},
    }


def methods(table: Any, date: str) -> set[str]:
    return {method for method, version in table if version == date}


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_methods_are_those_of_the_official_types(revision: Revision) -> None:
    assert (revision.requests, revision.notifications) == (
        methods(CLIENT_REQUESTS, revision.date),
        methods(CLIENT_NOTIFICATIONS, revision.date),
    )


@pytest.mark.parametrize(("older", "newer"), [*pairwise(REVISIONS)], ids=str)
def test_neighbours_differ_in_methods_as_the_official_types_do(older: Revision, newer: Revision) -> None:
    for own, table in (("requests", CLIENT_REQUESTS), ("notifications", CLIENT_NOTIFICATIONS)):
        assert getattr(newer, own) ^ getattr(older, own) == methods(table, newer.date) ^ methods(
            table, older.date
        )


def test_successor_adds_removes_and_changes() -> None:
    revision = HANDSHAKE[0].successor(
        "9999-01-01",
        multi_select=True,
        added={"content": {"smell"}},
        removed={"content": {"image"}, "requests": {"ping"}},
    )
    changed = {
        field.name: getattr(revision, field.name)
        for field in fields(Revision)
        if getattr(revision, field.name) != getattr(HANDSHAKE[0], field.name)
    }
    assert changed == {
        "date": "9999-01-01",
        "multi_select": True,
        "content": {"text", "resource", "smell"},
        "requests": HANDSHAKE[0].requests - {"ping"},
    }


def test_revision_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        HANDSHAKE[0].date = "2000-01-01"  # type: ignore[misc]


def test_revision_prints_as_its_date() -> None:
    assert [str(revision) for revision in REVISIONS] == list(BY_DATE)
