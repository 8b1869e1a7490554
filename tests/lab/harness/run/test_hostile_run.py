"""A stored run from a stranger: it cannot make the reader open other files, wait or run out of memory."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay.lab.error import InvalidOptions
from assay.lab.harness.run.run import dump_run
from assay.lab.harness.trace import file as trace_file
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.verdict import Verdict
from assay.lab.report.registry import renderer
from assay.lab.stored import compare, rejudge, stored_run
from tests.lab.runs import cell, run_of
from tests.lab.traces import request, result, stdio_trace

TRACE = dump_trace(stdio_trace((">", request(1, "ping")), ("<", result(1))))
SECRET = dump_trace(stdio_trace((">", request(1, "ping")), ("<", result(1, text="of somebody else"))))
STAMP = "2000-01-01T00-00-00-000Z"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A run as `assay check` stores it, and a trace elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "trace.ndjson").write_bytes(SECRET)
    folder = tmp_path / "results" / f"server-ping-{STAMP}"
    folder.mkdir(parents=True)
    (folder / "trace.ndjson").write_bytes(TRACE)
    home = tmp_path / "results" / f"run-{STAMP}"
    home.mkdir()
    return home


def stored(home: Path, trace: str) -> Path:
    named = msgspec.structs.replace(cell("ping", ("ping", Verdict.FAILURE)), trace=trace)
    (home / "run.json").write_bytes(dump_run(run_of(named)))
    return home


def nothing(home: Path) -> None:
    """The path alone is hostile."""


def link_to_a_file(home: Path) -> None:
    (home / "trace.ndjson").symlink_to("../../elsewhere/trace.ndjson")


def link_to_a_directory(home: Path) -> None:
    (home.parent / "server-link").symlink_to("../elsewhere")


ELSEWHERE: dict[str, tuple[str, Callable[[Path], None]]] = {
    "absolute": ("/etc/passwd", nothing),
    "absolute trace": ("/tmp/trace.ndjson", nothing),
    "above": ("../../elsewhere/trace.ndjson", nothing),
    "up and down": (f"../server-ping-{STAMP}/../../elsewhere/trace.ndjson", nothing),
    "too deep beside": ("../a/b/trace.ndjson", nothing),
    "beside the directory": ("../trace.ndjson", nothing),
    "device": ("/dev/zero", nothing),
    "not a trace": (f"../server-ping-{STAMP}/checks.json", nothing),
    "null": ("trace\x00.ndjson", nothing),
    "link to a file": ("trace.ndjson", link_to_a_file),
    "link to a directory": ("../server-link/trace.ndjson", link_to_a_directory),
}


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.parametrize("read", [stored_run, lambda path: rejudge([path]), lambda path: compare(path, path)])
def test_trace_elsewhere_is_refused_by_its_path(
    name: str, read: Callable[[Path], object], home: Path
) -> None:
    trace, prepare = ELSEWHERE[name]
    prepare(home)
    with pytest.raises(InvalidOptions) as refused:
        read(stored(home, trace))
    assert f"the trace {trace!r} of ping is not in the directories of this run" in str(refused.value)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_directory(path: Path) -> None:
    path.mkdir()


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(trace_file.MAX_BYTES + 1)  # without using the disk


UNFIT: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (a_pipe, "not a regular file"),
    "directory": (a_directory, "not a regular file"),
    "huge": (huge, "larger than 1000 bytes"),
    "missing": (lambda path: None, "No such file"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_unfit_trace_is_refused_by_its_path(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trace_file, "MAX_BYTES", 1000)
    prepare, problem = UNFIT[name]
    prepare(home / "trace.ndjson")
    assert main(["judge", str(stored(home, "trace.ndjson"))]) == 2
    error = capsys.readouterr().err
    assert problem in error and str(home / "trace.ndjson") in error


@pytest.mark.parametrize("prepare", [a_pipe, a_device, a_directory])
def test_page_shows_why_it_lacks_a_trace(prepare: Callable[[Path], None], home: Path) -> None:
    prepare(home / "trace.ndjson")
    named = msgspec.structs.replace(cell("ping", ("ping", Verdict.FAILURE)), trace=str(home / "trace.ndjson"))
    assert "not shown: " in renderer("html")(run_of(named))


@pytest.mark.parametrize("prepare", [a_pipe, a_device])
def test_run_that_is_no_file_is_refused(prepare: Callable[[Path], None], home: Path) -> None:
    prepare(home / "run.json")
    with pytest.raises(InvalidOptions, match=r"run\.json: not a regular file"):
        stored_run(home)


def test_traces_where_they_are_stored_are_read(home: Path) -> None:
    assert len(rejudge([stored(home, f"../server-ping-{STAMP}/trace.ndjson")]).cells) == 1
    (home / "traces").mkdir()
    (home / "traces" / "a.ndjson").write_bytes(TRACE)
    assert len(rejudge([stored(home, "traces/a.ndjson")]).cells) == 1


def test_trace_behind_a_link_that_the_user_names_is_read(home: Path) -> None:
    link_to_a_file(home)
    assert len(rejudge([home / "trace.ndjson"]).cells) == 1


def test_link_in_a_directory_of_traces_is_refused(home: Path) -> None:
    link_to_a_file(home)
    with pytest.raises(InvalidOptions, match="a symbolic link, not a regular file"):
        rejudge([home])
