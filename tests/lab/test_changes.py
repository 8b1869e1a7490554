"""What counts as a change."""

import asyncio
from pathlib import Path

import pytest
from watchfiles import Change

from assay.lab.changes import Changes, named

STEPS = 5


def changes(root: Path, *paths: str) -> Changes:
    return Changes([root / path for path in paths or (".",)], root / "results")


@pytest.mark.parametrize("path", ["server.py", "src/deep/tool.py", "data.json", "my-results/x.txt"])
def test_files_below_the_folder_are_meant(path: str, tmp_path: Path) -> None:
    assert changes(tmp_path).is_relevant(Change.modified, str(tmp_path / path))


@pytest.mark.parametrize(
    "path",
    [
        "results/run-1/run.json",
        "results",
        "src/__pycache__/tool.cpython-311.pyc",
        ".git/index",
        "node_modules/x/index.js",
        ".server.py.swp",
        "server.py~",
        "4913",
        ".#server.py",
        "#server.py#",
    ],
)
def test_what_tools_leave_behind_is_not(path: str, tmp_path: Path) -> None:
    assert not changes(tmp_path).is_relevant(Change.modified, str(tmp_path / path))


def test_names_above_the_watched_folder_do_not_matter(tmp_path: Path) -> None:
    home = tmp_path / "node_modules" / "mine"
    home.mkdir(parents=True)
    assert changes(home).is_relevant(Change.modified, str(home / "server.py"))


async def test_of_a_file_only_the_file_is_meant_even_if_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("1", "utf-8")
    changes_found = changes(tmp_path, "server.py")
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(follow(changes_found))
        change = group.create_task(changes_found.next())
        for _ in range(STEPS):  # of the loop: one for each task on the way to the watch
            await asyncio.wait({watching, change}, timeout=0)
        (tmp_path / "other.py").write_text("2", "utf-8")
        (tmp_path / "fresh").write_text("2", "utf-8")
        (tmp_path / "fresh").replace(tmp_path / "server.py")
        assert (await change).endswith("server.py")
        watching.cancel()


async def follow(changes_found: Changes) -> None:
    async with asyncio.TaskGroup() as group:
        changes_found.follow(group)


def test_many_changes_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert named(str(tmp_path / name) for name in "edcba") == "a, b, c and 2 more"
