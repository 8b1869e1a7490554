"""`server.json`: a valid entry has no issues; all issues of an invalid one are reported."""

import json
from typing import Any

import pytest

from assay.certify.registry.entry import MAX_BYTES, check, read
from assay.certify.registry.form import Issue
from assay.lab.harness.subject.registry_entry import PROFILE, PUBLISHER
from tests.certify.entries import BLOCK, ENTRY, GONE, edited

PACKAGE = "packages|0"
CAPABILITIES = f"{BLOCK}|capabilities"
PROFILE_PATH = f"_meta.{PUBLISHER}.{PROFILE}"

# The change, the path of the issue, and a part of its message.
WRONG: list[tuple[str, Any, str, str]] = [
    ("name", GONE, "name", "is missing"),
    ("name", "notes", "name", "a namespace and a name"),
    ("name", "com.example/notes\n", "name", "a namespace and a name"),
    ("name", "a/" + "b" * 200, "name", "3 to 200 characters"),
    ("name", 7, "name", "must be a string, not a number"),
    ("description", "", "description", "1 to 100 characters"),
    ("description", "x" * 101, "description", "1 to 100 characters"),
    ("version", GONE, "version", "is missing"),
    ("version", "^1.2.3", "version", "must be a single version"),
    ("version", ">=1.2", "version", "must be a single version"),
    ("version", "1.x", "version", "must be a single version"),
    ("version", "1.*", "version", "must be a single version"),
    ("version", "latest", "version", "must be a single version"),
    ("title", "", "title", "1 to 100 characters"),
    ("websiteUrl", "example", "websiteUrl", "a URL"),
    ("repository", {"url": "https://example.com"}, "repository.source", "is missing"),
    ("icons|0|src", "http://example.com/i.png", "icons[0].src", "an https URL"),
    ("icons|0|sizes|0", "large", "icons[0].sizes[0]", "WxH"),
    ("icons|0|theme", "blue", "icons[0].theme", "one of light, dark"),
    ("packages", {}, "packages", "must be an array, not an object"),
    (f"{PACKAGE}|registryType", "apt", "packages[0].registryType", "must be one of npm, pypi"),
    (f"{PACKAGE}|registryType", ["npm"], "packages[0].registryType", "must be one of npm, pypi"),
    (f"{PACKAGE}|identifier", GONE, "packages[0].identifier", "is missing"),
    (f"{PACKAGE}|transport", GONE, "packages[0].transport", "is missing"),
    (f"{PACKAGE}|transport", {"type": "sse"}, "packages[0].transport.url", "is missing"),
    (f"{PACKAGE}|version", "latest", "packages[0].version", "must be a single version"),
    (f"{PACKAGE}|fileSha256", "0F" * 32, "packages[0].fileSha256", "64 hexadecimal digits"),
    (
        f"{PACKAGE}|packageArguments|0",
        {"type": "positional"},
        "packages[0].packageArguments[0]",
        "value or valueHint",
    ),
    (f"{PACKAGE}|packageArguments|1|name", GONE, "packages[0].packageArguments[1]", "needs name"),
    (f"{PACKAGE}|packageArguments|0|type", "odd", "packages[0].packageArguments[0].type", "one of named"),
    (
        f"{PACKAGE}|environmentVariables|0|isSecret",
        1,
        "packages[0].environmentVariables[0].isSecret",
        "true or false",
    ),
    ("remotes|0|type", "stdio", "remotes[0].type", "must be one of streamable-http, sse"),
    ("remotes|0|url", GONE, "remotes[0].url", "is missing"),
    ("remotes|0|headers|0|name", GONE, "remotes[0].headers[0].name", "is missing"),
    (f"{BLOCK}|id", "other/1", f"{PROFILE_PATH}.id", "must be one of intelgraph/2025-10, intelgraph/2026-11"),
    (f"{BLOCK}|transports|0", "ws", f"{PROFILE_PATH}.transports[0]", "must be one of stdio"),
    (f"{BLOCK}|protocolVersions|0", "2020-01-01", f"{PROFILE_PATH}.protocolVersions[0]", "must be one of"),
    (f"{BLOCK}|jsonrpc|batch", "no", f"{PROFILE_PATH}.jsonrpc.batch", "must be true or false"),
    (f"{BLOCK}|streaming|heartbeatSec", 0, f"{PROFILE_PATH}.streaming.heartbeatSec", "number of seconds"),
    (f"{BLOCK}|auth|modes", GONE, f"{PROFILE_PATH}.auth.modes", "is missing"),
    (f"{CAPABILITIES}|tools", GONE, f"{PROFILE_PATH}.capabilities.tools", "is missing"),
    (f"{CAPABILITIES}|tools|n", -1, f"{PROFILE_PATH}.capabilities.tools.n", "a non-negative integer"),
    (f"{CAPABILITIES}|tools|n", True, f"{PROFILE_PATH}.capabilities.tools.n", "a non-negative integer"),
    (
        f"{CAPABILITIES}|prompts|versions|review",
        "2",
        f"{PROFILE_PATH}.capabilities.prompts.versions.review",
        "1.2.0",
    ),
    (
        f"{CAPABILITIES}|prompts|versions|review",
        None,
        f"{PROFILE_PATH}.capabilities.prompts.versions.review",
        "null",
    ),
    (
        f"{CAPABILITIES}|prompts|digests|review",
        "x",
        f"{PROFILE_PATH}.capabilities.prompts.digests.review",
        "a digest",
    ),
]


def errors(entry: Any) -> list[Issue]:
    return [issue for issue in check(entry).issues if issue.severity == "error"]


def test_a_valid_entry_has_no_issues() -> None:
    assert check(ENTRY).issues == []
    assert check(ENTRY).valid


@pytest.mark.parametrize(("way", "value", "path", "message"), WRONG)
def test_an_issue_has_the_path_of_its_cause(way: str, value: Any, path: str, message: str) -> None:
    (issue,) = errors(edited({way: value}))
    assert (issue.path, message in issue.message) == (path, True)


def test_all_issues_are_reported() -> None:
    entry = edited({"name": 1, "version": "1.x", "packages|0|identifier": GONE})
    assert {issue.path for issue in errors(entry)} == {"name", "version", "packages[0].identifier"}


def test_an_mcpb_package_has_the_digest_of_its_file() -> None:
    entry = edited({"packages|0|registryType": "mcpb", "packages|0|fileSha256": GONE})
    assert [issue.path for issue in errors(entry)] == ["packages[0].fileSha256"]


def test_the_size_of_publisher_data_is_limited() -> None:
    assert errors(edited({f"_meta|{PUBLISHER}|com.example": "x" * 4000}))[0].message.endswith(
        "accepts at most 4096"
    )
    assert not errors(edited({f"_meta|{PUBLISHER}|com.example": "x" * 2000}))


@pytest.mark.parametrize("entry", [None, [], "x", 7])
def test_an_entry_must_be_an_object(entry: Any) -> None:
    assert [issue.path for issue in errors(entry)] == [""]


@pytest.mark.parametrize(
    ("way", "path"),
    [
        ("novelty", "novelty"),
        (f"{BLOCK}|novelty", f"{PROFILE_PATH}.novelty"),
        ("$schema", "$schema"),
    ],
)
def test_an_unknown_member_is_a_warning(way: str, path: str) -> None:
    report = check(edited({way: "x"}))
    assert [(issue.path, issue.severity) for issue in report.issues] == [(path, "warning")]
    assert report.valid


def test_without_a_profile_or_location_an_entry_is_valid_with_remarks() -> None:
    report = check(edited({"_meta": GONE, "packages": GONE, "remotes": GONE}))
    assert (report.valid, [issue.severity for issue in report.issues]) == (True, ["info", "warning"])


def test_reading_checks_the_entry() -> None:
    assert read(json.dumps(ENTRY).encode()) == (ENTRY, check(ENTRY))


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[" * 100_000, b" " * (MAX_BYTES + 1)])
def test_an_entry_must_be_json(data: bytes) -> None:
    entry, report = read(data)
    assert (entry, report.valid, report.issues[0].type) == (None, False, "json")
