"""Results on disk: one place a run, whatever else runs beside it."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from assay.lab.harness.run import archive as module
from assay.lab.harness.run.archive import Archive, CannotKeep, Output, located, read_run
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.trace.trace import Trace
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


def test_output_of_one_client_is_kept_as_it_is(tmp_path: Path) -> None:
    archive = Archive(tmp_path, Role.CLIENT)
    found = cell("auth/basic-cimd", ("x", Verdict.SUCCESS))
    archive.keep_output(found, Output(b"out\xff", b""))
    archive.finish(run_of(found))
    (folder,) = tmp_path.glob("auth-basic-cimd-*")
    assert (folder / "stdout.txt").read_bytes() == b"out\xff"
    assert (folder / "stderr.txt").read_bytes() == b""


def test_output_of_several_clients_stands_below_their_places(tmp_path: Path) -> None:
    archive = Archive(tmp_path, Role.CLIENT)
    plain = cell("tools_call", ("x", Verdict.SUCCESS))
    cells = [msgspec.structs.replace(plain, revision=date) for date in ("2001-01-01", "2000-01-01")]
    for found in cells:
        archive.keep_output(found, Output(b"no newline", f"{found.revision}\n".encode()))
    archive.finish(run_of(*cells))
    (folder,) = tmp_path.glob("tools_call-*")
    said = "--- stdio 2000-01-01\n2000-01-01\n--- stdio 2001-01-01\n2001-01-01\n"
    assert (folder / "stderr.txt").read_text() == said
    assert (folder / "stdout.txt").read_text().count("no newline\n") == 2


def test_protocol_of_a_client_is_told_beside_its_checks(tmp_path: Path) -> None:
    archive = Archive(tmp_path, Role.CLIENT)
    trace = stdio_trace(("<", request(1, "ping")))
    header = msgspec.structs.replace(trace.header, role="client")
    found = archive.keep(cell("tools_call", ("x", Verdict.SUCCESS)), Trace(header, trace.frames))
    archive.finish(run_of(found))
    (path,) = tmp_path.glob("tools_call-*/checks.json")
    assert [entry["id"] for entry in json.loads(path.read_text())] == ["x", "incoming-request"]
