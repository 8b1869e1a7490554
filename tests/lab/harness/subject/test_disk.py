"""Changes in directories are detected, whatever their kind."""

import os
from pathlib import Path

import pytest

from assay.lab.harness.subject import disk
from assay.lab.harness.subject.disk import Directories, Unobservable, content, difference


def test_created_changed_and_removed_files_are_distinguished(tmp_path: Path) -> None:
    watched = Directories([tmp_path])
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "changed").write_text("one")
    (tmp_path / "removed").write_text("removed")
    before = watched.state()
    (tmp_path / "changed").write_text("two")
    (tmp_path / "removed").unlink()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "created").write_text("new")
    changes = difference(before, watched.state())
    home = tmp_path.resolve()
    assert changes.created == [str(home / "below" / "created")]
    assert changes.changed == [str(home / "changed")]
    assert changes.removed == [str(home / "removed")]
    assert len(changes.paths) == 3


def test_change_of_content_with_the_same_size_and_time_is_detected(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    os.utime(file, ns=(0, 0))
    before = Directories([tmp_path]).state()
    file.write_text("two")
    os.utime(file, ns=(0, 0))
    assert difference(before, Directories([tmp_path]).state()).changed == [str(file.resolve())]


def test_a_large_file_is_compared_by_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "HASHED", 2)
    file = tmp_path / "file"
    file.write_text("large")
    before = Directories([tmp_path]).state()
    os.utime(file, ns=(0, 0))
    assert before[str(file.resolve())].startswith("stat:")
    assert difference(before, Directories([tmp_path]).state()).changed == [str(file.resolve())]


def test_a_link_is_compared_by_its_target_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/nowhere")
    assert Directories([tmp_path]).state() == {str(tmp_path.resolve() / "link"): "link:/nowhere"}


def test_a_file_that_became_a_pipe_or_a_link_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert content(tmp_path / "pipe") == b""
    with pytest.raises(OSError, match="symbolic links"):
        content(tmp_path / "link")


def test_a_missing_directory_counts_as_empty(tmp_path: Path) -> None:
    watched = Directories([tmp_path / "later"])
    before = watched.state()
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "file").write_text("")
    assert before == {}
    assert len(difference(before, watched.state()).created) == 1


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MOST", 1)
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    with pytest.raises(Unobservable, match="more than 1 files: observe only the directory"):
        Directories([tmp_path]).state()


def test_a_file_in_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unobservable, match="cannot list"):
        Directories([tmp_path / "file"]).state()
