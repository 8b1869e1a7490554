"""Results on disk: each run has its own folders, even with concurrent runs."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from assay.lab.harness.run import archive as module
from assay.lab.harness.run.archive import Archive, Output, StorageError, located, read_run
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Verdict
from tests.lab.runs import cell, run_of
from tests.lab.traces import request, stdio_trace


def test_runs_that_start_at_the_same_time_do_not_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "now", lambda: "2000-01-01T00:00:00.000Z")
    trace = stdio_trace((">", request(1, "ping")))
    result = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    paths = set()
    for _ in range(3):
        archive = Archive(tmp_path)
        run = run_of(archive.store(result, trace))
        path = archive.finish(run)
        assert read_run(path.parent) == run
        assert read_trace(path.parent / run.cells[0].trace).frames == trace.frames
        paths.add(path)
    assert len(paths) == 3
    assert len(list(tmp_path.rglob("checks.json"))) == 3


def test_no_folder_is_created_before_the_first_result(tmp_path: Path) -> None:
    Archive(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_trace_paths_are_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    archive = Archive(Path("results"))
    trace = stdio_trace((">", request(1, "ping")))
    stored = archive.store(cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS)), trace)
    run = run_of(stored, cell("tools.definitions"))
    local = located(run, archive.finish(run).parent)
    assert local.cells[0].trace.startswith("results/server-lifecycle-ping-")
    assert read_trace(Path(local.cells[0].trace)).frames == trace.frames
    assert local.cells[1].trace == ""


def test_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "results")
    result = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    archive.store(result, stdio_trace((">", request(1, "ping"))))
    (folder,) = (tmp_path / "results").glob("server-*")
    shutil.rmtree(folder)
    folder.write_text("in the way", "utf-8")
    with pytest.raises(StorageError, match=f"cannot store results in {folder}"):
        archive.store(result, stdio_trace((">", request(1, "ping"))))
    with pytest.raises(StorageError, match="cannot store results"):
        archive.finish(run_of(result))


def test_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("in the way", "utf-8")
    result = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    with pytest.raises(StorageError, match="cannot store results"):
        Archive(tmp_path / "results").store(result, stdio_trace((">", request(1, "ping"))))


def test_discarding_a_run_leaves_others_alone(tmp_path: Path) -> None:
    result = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    stored, discarded = Archive(tmp_path), Archive(tmp_path)
    paths = [archive.finish(run_of(result)) for archive in (stored, discarded)]
    discarded.discard()
    Archive(tmp_path).discard()
    assert [path.exists() for path in paths] == [True, False]
    assert len(list(tmp_path.glob("server-*"))) == 1


def test_output_of_a_single_client_is_stored_verbatim(tmp_path: Path) -> None:
    archive = Archive(tmp_path, Role.CLIENT)
    result = cell("auth/basic-cimd", ("x", Verdict.SUCCESS))
    archive.add_output(result, Output(b"out\xff", b""))
    archive.finish(run_of(result))
    (folder,) = tmp_path.glob("auth-basic-cimd-*")
    assert (folder / "stdout.txt").read_bytes() == b"out\xff"
    assert (folder / "stderr.txt").read_bytes() == b""


def test_outputs_of_several_clients_have_headings(tmp_path: Path) -> None:
    archive = Archive(tmp_path, Role.CLIENT)
    plain = cell("tools_call", ("x", Verdict.SUCCESS))
    cells = [msgspec.structs.replace(plain, revision=date) for date in ("2001-01-01", "2000-01-01")]
    for result in cells:
        archive.add_output(result, Output(b"no newline", f"{result.revision}\n".encode()))
    archive.finish(run_of(*cells))
    (folder,) = tmp_path.glob("tools_call-*")
    expected = "--- stdio 2000-01-01\n2000-01-01\n--- stdio 2001-01-01\n2001-01-01\n"
    assert (folder / "stderr.txt").read_text() == expected
    assert (folder / "stdout.txt").read_text().count("no newline\n") == 2


def test_protocol_log_of_a_client_is_stored_with_its_checks(tmp_path: Path) -> None:
    archive = Archive(tmp_path, Role.CLIENT)
    trace = stdio_trace(("<", request(1, "ping")))
    header = msgspec.structs.replace(trace.header, role="client")
    result = archive.store(cell("tools_call", ("x", Verdict.SUCCESS)), Trace(header, trace.frames))
    archive.finish(run_of(result))
    (path,) = tmp_path.glob("tools_call-*/checks.json")
    assert [entry["id"] for entry in json.loads(path.read_text())] == ["x", "incoming-request"]
