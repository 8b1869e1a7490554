"""Which entry may replace another one of the same server."""

from typing import Any

import pytest

from assay.certify.registry.diff import Change, difference
from assay.lab.harness.subject.registry_entry import PUBLISHER
from tests.certify.entries import BLOCK, ENTRY, GONE, HASH, OTHER, edited

PROMPTS = f"{BLOCK}|capabilities|prompts"
HIGHER = {"version": "1.3.0"}
MAJOR = {"version": "2.0.0"}


def changes(edits: dict[str, Any], severity: str | None = None, **manifests: Any) -> list[Change]:
    result = difference(ENTRY, edited(edits), **manifests)
    assert result.acceptable is all(change.severity != "error" for change in result.changes)
    return [change for change in result.changes if severity is None or change.severity == severity]


def refusals(edits: dict[str, Any]) -> list[str]:
    return [change.path for change in changes(edits, "error")]


def test_the_same_entry_may_follow_itself() -> None:
    assert changes({}) == []


def test_a_higher_version_may_follow() -> None:
    assert changes(HIGHER) == [Change("version", "1.2.0 → 1.3.0")]


def test_a_lower_version_may_not() -> None:
    assert refusals({"version": "1.1.9"}) == ["version"]
    assert refusals({"version": "1.2.0-beta.1"}) == ["version"]


@pytest.mark.parametrize(
    "edit",
    [
        {"description": "Other"},
        {"remotes": GONE},
        {f"{BLOCK}|jsonrpc|batch": True},
        {f"{BLOCK}|transports": ["stdio"]},
        {f"{BLOCK}|auth|scopes": ["read"]},
        {f"{BLOCK}|capabilities|tools|sha256": "f0" * 32},
        {f"{BLOCK}|capabilities|resources|n": 2},
        {f"_meta|{PUBLISHER}|com.example": 1},
        {"_meta": GONE},
    ],
)
def test_a_change_requires_a_higher_version(edit: dict[str, Any]) -> None:
    assert refusals(edit) == ["version"]
    assert refusals({**edit, **HIGHER}) == []


def test_versions_that_do_not_compare() -> None:
    assert refusals({"version": "next"}) == ["version"]
    old = edited({"version": "next"})
    assert difference(old, old).acceptable
    assert not difference(old, edited({"description": "Other"}, old)).acceptable


def test_another_name_is_another_server() -> None:
    assert refusals({"name": "com.example/other", **HIGHER}) == ["name"]


@pytest.mark.parametrize("version", ["1.2.0", "1.1.0", "1.2.0-beta"])
def test_a_prompt_whose_text_changed_requires_a_higher_version(version: str) -> None:
    edit = {f"{PROMPTS}|digests|review": OTHER, f"{PROMPTS}|versions|review": version, **HIGHER}
    assert refusals(edit) == ["prompts.review"]


def test_a_prompt_without_a_version_may_not_change() -> None:
    old = edited({f"{PROMPTS}|versions": {}})
    new = edited({f"{PROMPTS}|digests|review": OTHER, **HIGHER}, old)
    assert [change.path for change in difference(old, new).changes if change.severity == "error"] == [
        "prompts.review"
    ]


def test_a_prompt_with_a_higher_version_may_change() -> None:
    edit = {f"{PROMPTS}|digests|review": OTHER, f"{PROMPTS}|versions|review": "1.3.0", **HIGHER}
    assert Change("prompts.review", "1.2.0 → 1.3.0") in changes(edit)
    assert refusals(edit) == []


def test_the_version_of_a_prompt_must_not_decrease() -> None:
    assert refusals({f"{PROMPTS}|versions|review": "1.1.0", **HIGHER}) == ["prompts.review"]


def test_a_new_prompt_is_reported() -> None:
    edit = {
        f"{PROMPTS}|versions|other": "1.0.0",
        f"{PROMPTS}|digests|other": OTHER,
        f"{PROMPTS}|n": 2,
        **HIGHER,
    }
    assert Change("prompts.other", "was added") in changes(edit)


def test_removing_tools_requires_a_major_version() -> None:
    edit = {f"{BLOCK}|capabilities|tools|n": 2}
    assert [change.path for change in changes({**edit, **HIGHER}, "warning")] == ["tools"]
    assert changes({**edit, **MAJOR}, "warning") == []


def test_below_1_0_a_minor_version_may_remove_features() -> None:
    old = edited({"version": "0.1.0"})
    fewer = {f"{BLOCK}|capabilities|tools|n": 2}
    assert not [
        change
        for change in difference(old, edited({**fewer, "version": "0.2.0"})).changes
        if change.severity != "info"
    ]
    assert [
        change
        for change in difference(old, edited({**fewer, "version": "0.1.1"})).changes
        if change.severity == "warning"
    ]


def test_with_manifests_tools_are_compared_by_name() -> None:
    old, new = {"tools": [{"name": "a"}, {"name": "b"}]}, {"tools": [{"name": "b"}, {"name": "c"}]}
    reported = changes(HIGHER, old_manifests=old, new_manifests=new)
    assert Change("tools.a", "was removed: that requires a major version", "warning") in reported
    assert Change("tools.c", "was added") in reported


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({f"{BLOCK}|transports": ["stdio"]}, "transports"),
        ({f"{BLOCK}|protocolVersions": []}, "protocolVersions"),
        ({"_meta": GONE}, "dev.assay/profile"),
    ],
)
def test_removing_what_clients_rely_on_is_a_warning(edit: dict[str, Any], path: str) -> None:
    assert path in [change.path for change in changes({**edit, **HIGHER}, "warning")]


def test_removed_batch_support_is_a_warning() -> None:
    old = edited({f"{BLOCK}|jsonrpc|batch": True})
    reported = difference(old, edited(HIGHER)).changes
    assert [change.path for change in reported if change.severity == "warning"] == ["jsonrpc"]


def test_lists_of_the_same_names_may_still_differ() -> None:
    edit = {f"{BLOCK}|capabilities|tools|sha256": HASH[::-1], **HIGHER}
    assert Change("tools", "names, schemas or versions differ") in changes(edit)
