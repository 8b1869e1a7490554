"""Effects: the form of a summary, its digests, its entry in a ledger, and the disk beside it."""

from typing import Any

import pytest

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.trace.digest import digest_of, digest_of_json
from assay.lab.marketplace.capabilities.effect import fresh_arguments, names
from tests.lab.marketplace.cap_judging import Said, judged, trace_of, verdicts

CONTENT = [{"type": "text", "text": "done"}]
DECLARED = {"readOnly": False, "destructive": True, "idempotent": False, "openWorld": True}
WRITTEN = {"op": "create", "target": {"kind": "file", "id": "notes/a.txt"}}
READER = {"name": "t", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def summary(**changed: Any) -> dict[str, Any]:
    usual = {
        "v": 1,
        "callId": "c1",
        "tool": "t",
        "declared": DECLARED,
        "effects": [],
        "argsDigest": digest_of(b"{}"),
        "resultDigest": digest_of_json(CONTENT),
        "retention": "standard-365d",
    }
    return {**usual, **changed}


def called(said: Any, **fields: Any) -> Said:
    content = {"content": CONTENT, "_meta": {"dev.assay/effects": said}, **fields}
    return "tools/call", {"name": "t"}, content


def listed(tool: dict[str, Any]) -> Said:
    return "tools/list", {}, {"tools": [tool]}


def on_disk(call: int, **changed: list[str]) -> dict[str, Any]:
    return {"label": "disk", "connection": "1", "call": call, **changed}


def entry(number: int, content: bytes) -> dict[str, Any]:
    return summary(ledger={"seq": number, "entryHash": digest_of(content)})


def test_a_right_summary_passes_also_of_a_failed_call() -> None:
    found = verdicts("effects", trace_of(called(summary(), isError=True)))
    assert (found["tools.effects"], found["tools.digests"]) == ("SUCCESS", "SUCCESS")


@pytest.mark.parametrize(
    "changed",
    [
        {"v": 2},
        {"callId": ""},
        {"tool": "another"},
        {"declared": {**DECLARED, "openWorld": None}},
        {"effects": None},
        {"effects": ["created a file"]},
        {"effects": [{"op": "tidy", "target": WRITTEN["target"]}]},
        {"effects": [{"op": "create", "target": {"kind": "file"}}]},
        {"argsDigest": "x"},
        {"resultDigest": None},
        {"retention": "forever"},
    ],
)
def test_each_field_of_a_summary_is_looked_at(changed: dict[str, Any]) -> None:
    result = judged("effects", trace_of(called(summary(**changed))))["tools.effects"]
    assert result.verdict == "FAILURE"
    assert result.findings[0].observed.startswith("t: ")


def test_a_summary_that_is_missing_is_found_with_the_key_that_is_expected() -> None:
    result = judged("effects", trace_of(called(None)))["tools.effects"]
    assert '_meta["dev.assay/effects"]' in result.findings[0].expected
    assert result.findings[0].observed == "t: no dev.assay/effects"


def test_hints_are_compared_with_those_of_the_list() -> None:
    said = summary(declared={**DECLARED, "readOnly": True})
    assert verdicts("effects", trace_of(listed(READER), called(said)))["tools.effects"] == "SUCCESS"
    assert verdicts("effects", trace_of(listed(READER), called(summary())))["tools.effects"] == "FAILURE"


@pytest.mark.parametrize("key", ["argsDigest", "resultDigest"])
def test_a_digest_of_something_else_is_found(key: str) -> None:
    said = summary(**{key: digest_of(b"else")})
    assert verdicts("effects", trace_of(called(said)))["tools.digests"] == "FAILURE"


def test_a_call_that_ends_with_questions_needs_no_summary() -> None:
    asked: Said = ("tools/call", {"name": "t"}, {"resultType": "input_required", "inputRequests": {}})
    assert verdicts("effects", trace_of(asked))["tools.effects"] == "SKIPPED"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (entry(1, b"a"), entry(2, b"b"), "SUCCESS"),
        (entry(1, b"a"), entry(5, b"b"), "SUCCESS"),
        (entry(1, b"a"), entry(1, b"b"), "WARNING"),
        (entry(2, b"a"), entry(1, b"b"), "WARNING"),
        (entry(1, b"a"), entry(2, b"a"), "WARNING"),
        (summary(), entry(1, b"a"), "WARNING"),
        (entry(True, b"a"), entry(2, b"b"), "WARNING"),
    ],
)
def test_entries_are_numbered_upwards_in_one_process(first: Any, second: Any, expected: str) -> None:
    assert verdicts("effects", trace_of(called(first), called(second)))["tools.ledger"] == expected


@pytest.mark.parametrize(
    ("effects", "expected"),
    [([WRITTEN], "SUCCESS"), ([], "FAILURE"), ([{**WRITTEN, "op": "read-external"}], "FAILURE")],
)
def test_a_file_that_was_written_is_among_the_effects(effects: list[Any], expected: str) -> None:
    mark = on_disk(0, created=["/srv/notes/a.txt"])
    trace = trace_of(called(summary(effects=effects)), marks=(mark,))
    assert verdicts("disk", trace)["tools.disk"] == expected


def test_a_file_that_is_written_without_any_summary_is_found() -> None:
    trace = trace_of(called(None), marks=(on_disk(0, removed=["/srv/a"]),))
    assert verdicts("disk", trace)["tools.disk"] == "FAILURE"


@pytest.mark.parametrize(("paths", "expected"), [(["/srv/a"], "FAILURE"), ([], "SKIPPED")])
def test_an_error_hides_no_change_and_proves_nothing_without_one(paths: list[str], expected: str) -> None:
    failed: Said = ("tools/call", {"name": "t"}, {"isError": True})
    trace = trace_of(listed(READER), failed, marks=(on_disk(1, created=paths),))
    assert verdicts("disk", trace)["tools.read-only"] == expected


@pytest.mark.parametrize(("effects", "expected"), [([WRITTEN], "SKIPPED"), ([], "SUCCESS")])
def test_a_reported_file_that_did_not_change_shows_that_another_directory_is_watched(
    effects: list[Any], expected: str
) -> None:
    trace = trace_of(called(summary(effects=effects)), marks=(on_disk(0),))
    assert verdicts("disk", trace)["tools.disk"] == expected


def test_what_another_call_changed_is_not_held_against_this_one() -> None:
    trace = trace_of(called(summary()), marks=(on_disk(7, created=["/srv/a"]),))
    assert verdicts("disk", trace)["tools.disk"] == "SKIPPED"


@pytest.mark.parametrize(
    ("effects", "changed", "expected"),
    [
        ([], [], "SUCCESS"),
        ([{"op": "read-external", "target": {"kind": "http", "id": "x"}}], [], "SUCCESS"),
        ([WRITTEN], [], "FAILURE"),
        ([], ["/srv/a"], "FAILURE"),
    ],
)
def test_a_tool_that_only_reads_changes_nothing(
    effects: list[Any], changed: list[str], expected: str
) -> None:
    said = summary(effects=effects, declared={**DECLARED, "readOnly": True})
    trace = trace_of(listed(READER), called(said), marks=(on_disk(1, changed=changed),))
    assert verdicts("disk", trace)["tools.read-only"] == expected


@pytest.mark.parametrize(
    ("named", "same"),
    [
        ("/srv/notes/a.txt", True),
        ("notes/a.txt", True),
        ("a.txt", True),
        ("file:///srv/notes/a.txt", True),
        ("./a.txt", True),
        ("/notes/a.txt", False),
        ("otes/a.txt", False),
        ("b.txt", False),
        ("", False),
    ],
)
def test_a_file_is_named_by_its_path_or_by_the_end_of_it(named: str, same: bool) -> None:
    assert names({"target": {"kind": "file", "id": named}}, "/srv/notes/a.txt") is same


def test_only_effects_on_files_name_files() -> None:
    assert not names({"target": {"kind": "db", "id": "/srv/a"}}, "/srv/a")


def test_arguments_are_fresh_in_their_last_open_text() -> None:
    texts = {"name": {"type": "string"}, "text": {"type": "string", "description": "What to write"}}
    tool = {"inputSchema": {"type": "object", "properties": texts, "required": ["name", "text"]}}
    usual = arguments_for(tool)
    one, other = fresh_arguments(tool, usual, "one"), fresh_arguments(tool, usual, "other")
    assert one["name"] == other["name"] == usual["name"]
    assert usual == arguments_for(tool), "what worked is used again as it was"
    assert one["text"] != other["text"]


def test_arguments_that_a_schema_binds_stay_as_they_are() -> None:
    kinds = {"kind": {"type": "string", "enum": ["a", "b"]}}
    tool = {"inputSchema": {"type": "object", "properties": kinds, "required": ["kind"]}}
    assert fresh_arguments(tool, arguments_for(tool), "one") == {"kind": "a"}
