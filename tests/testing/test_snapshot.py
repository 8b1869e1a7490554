"""Snapshots of lists: written, compared, updated, and readable when they differ."""

import json
from pathlib import Path

import pytest

import assay.testing.client
import assay.testing.setting
import assay.testing.snapshot  # noqa: F401 - loaded once, instead of in each of the inner runs
from assay import Client, Server, SyncClient
from assay.testing import Snapshot
from assay.testing.snapshot import snapshot_path
from tests.testing.project import run, text

pytest_plugins = ("pytester",)

TESTS = """
async def test_lists(assay_client, assay_snapshot):
    await assay_snapshot(assay_client)
    await assay_snapshot(assay_client, "prompts")
"""
FILE = "snapshots/test_shop.test_lists.json"


def test_the_first_run_writes_and_the_next_compares(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(pytester, TESTS)
    first.assert_outcomes(passed=1)
    assert f"snapshot written: {pytester.path / FILE}" in text(first)
    lists = json.loads((pytester.path / FILE).read_text("utf-8"))
    assert [tool["name"] for tool in lists["tools"]] == ["add", "grow", "never", "order", "swallow"]
    assert lists["resources"][0]["uri"] == "shop://prices" and lists["prompts"][0]["name"] == "advertise"
    assert (pytester.path / "snapshots/test_shop.test_lists.2.json").exists()
    monkeypatch.setenv("CI", "true")
    second = run(pytester, TESTS)
    second.assert_outcomes(passed=1)
    assert "snapshot written" not in text(second)


def test_a_missing_snapshot_fails_in_ci(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    result = run(pytester, TESTS)
    result.assert_outcomes(failed=1)
    assert "is missing: write it with `pytest --assay-update-snapshots`, and commit it" in text(result)
    assert not (pytester.path / FILE).exists()


def test_a_comparison_that_is_not_awaited_fails(pytester: pytest.Pytester) -> None:
    tests = "async def test_lists(assay_client, assay_snapshot):\n    assay_snapshot(assay_client)\n"
    result = run(pytester, tests, "-W", "ignore")
    result.assert_outcomes(passed=1, errors=1)
    assert "a snapshot was not compared: write `await assay_snapshot(assay_client)`" in text(result)


def server(description: str = "Add.", *more: str) -> Server:
    made = Server("listed")

    async def add(a: int) -> int:
        return a

    for name in ("add", *more):
        made.tool(add, name=name, description=description)
    return made


def compare(path: Path, listed: Server, *, update: bool = False) -> list[Path]:
    written: list[Path] = []
    with SyncClient(listed) as client:
        Snapshot(path, update=update, on_write=written.append)(client, "tools")
    return written


def test_a_difference_names_what_changed_and_how(tmp_path: Path) -> None:
    path = tmp_path / "lists"
    assert compare(path, server("Add.", "old")) == [tmp_path / "lists.json"]
    with pytest.raises(AssertionError) as failure:
        compare(path, server("Add\x1b[2J numbers.", "new"))
    difference = str(failure.value)
    for line in (
        "  changed  tool add: description",
        "  added    tool new",
        "  removed  tool old",
        '-      "description": "Add.",',
        '+      "description": "Add\\u001b[2J numbers.",',
        "if this is intended: pytest --assay-update-snapshots",
    ):
        assert line in difference.splitlines(), difference
    assert "\x1b" not in difference


def test_invisible_characters_are_visible_in_the_file(tmp_path: Path) -> None:
    compare(tmp_path / "lists", server("Füge \u202e\u200b hinzu."))
    text = (tmp_path / "lists.json").read_text("utf-8")
    assert "Füge \\u202e\\u200b hinzu." in text
    assert json.loads(text)["tools"][0]["description"] == "Füge \u202e\u200b hinzu."


def test_updating_rewrites_only_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "lists"
    compare(path, server())
    assert compare(path, server(), update=True) == []
    assert compare(path, server("Other."), update=True) == [tmp_path / "lists.json"]
    assert compare(path, server("Other.")) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[]", b'{"tools": 1}', b"[" * 100_000, b""])
def test_a_damaged_file_is_a_difference(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lists.json").write_bytes(content)
    with pytest.raises(AssertionError, match="the lists of the server differ"):
        compare(tmp_path / "lists", server())


async def test_a_server_without_a_list_has_an_empty_one(tmp_path: Path) -> None:
    only_tools = server()
    async with only_tools, Client(only_tools) as client:
        await Snapshot(tmp_path / "all")(client)
    lists = json.loads((tmp_path / "all.json").read_text("utf-8"))
    assert lists["prompts"] == lists["resources"] == lists["templates"] == []


def test_comparing_with_a_snapshot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"write `await assay_snapshot\(assay_client, 'tools'\)`"):
        assert Snapshot(tmp_path / "lists") == []


def test_an_unknown_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no list of 'tool': one of tools, resources, templates, prompts"):
        Snapshot(tmp_path / "x")(SyncClient(server()), "tool")


def test_names_of_files_are_plain_and_short(tmp_path: Path) -> None:
    test = tmp_path / "test_a.py"
    assert (
        snapshot_path(test, "test_x[../../etc/passwd]")
        == tmp_path / "snapshots/test_a.test_x-..-..-etc-passwd"
    )
    first, second = (snapshot_path(test, "x" * 300 + end) for end in "ab")
    assert first != second and len(first.name) == 100
