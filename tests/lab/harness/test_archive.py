"""Results on disk: one place a run, whatever else runs beside it."""

import shutil
from pathlib import Path

import pytest

from assay.lab.harness import archive as module
from assay.lab.harness.archive import Archive, CannotKeep, located, read_run
from assay.lab.harness.trace_file import read_trace
from assay.lab.harness.verdict import Verdict
from tests.lab.runs import cell, run_of
from tests.lab.traces import request, stdio_trace


def test_two_runs_of_the_same_moment_do_not_share_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "now", lambda: "2000-01-01T00:00:00.000Z")
    trace = stdio_trace((">", request(1, "ping")))
    found = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    places = set()
    for _ in range(3):
        archive = Archive(tmp_path)
        run = run_of(archive.keep(found, trace))
        place = archive.finish(run)
        assert read_run(place.parent) == run
        assert read_trace(place.parent / run.cells[0].trace).frames == trace.frames
        places.add(place)
    assert len(places) == 3
    assert len(list(tmp_path.rglob("checks.json"))) == 3


def test_nothing_is_made_before_there_is_something_to_keep(tmp_path: Path) -> None:
    Archive(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_traces_are_found_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    archive = Archive(Path("results"))
    trace = stdio_trace((">", request(1, "ping")))
    kept = archive.keep(cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS)), trace)
    run = run_of(kept, cell("tools.definitions"))
    shown = located(run, archive.finish(run).parent)
    assert shown.cells[0].trace.startswith("results/server-lifecycle-ping-")
    assert read_trace(Path(shown.cells[0].trace)).frames == trace.frames
    assert shown.cells[1].trace == ""


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "results")
    found = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    archive.keep(found, stdio_trace((">", request(1, "ping"))))
    (folder,) = (tmp_path / "results").glob("server-*")
    shutil.rmtree(folder)
    folder.write_text("in the way", "utf-8")
    with pytest.raises(CannotKeep, match=f"cannot keep results in {folder}"):
        archive.keep(found, stdio_trace((">", request(1, "ping"))))
    with pytest.raises(CannotKeep, match="cannot keep results"):
        archive.finish(run_of(found))


def test_place_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("in the way", "utf-8")
    found = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    with pytest.raises(CannotKeep, match="cannot keep results"):
        Archive(tmp_path / "results").keep(found, stdio_trace((">", request(1, "ping"))))


def test_discarding_a_run_leaves_others_alone(tmp_path: Path) -> None:
    found = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    kept, gone = Archive(tmp_path), Archive(tmp_path)
    places = [archive.finish(run_of(found)) for archive in (kept, gone)]
    gone.discard()
    Archive(tmp_path).discard()
    assert [place.exists() for place in places] == [True, False]
    assert len(list(tmp_path.glob("server-*"))) == 1
