"""`assay ledger`: verified, changed, incomplete; and readable."""

import subprocess
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.profile.ledger import Ledger
from assay.signing.keys import write_pair
from tests.driving.warm_python import warm_python
from tests.profile.ledgers import KEY, OTHER, lines_of, put_lines, record, written


@pytest.fixture
def key(tmp_path: Path) -> str:
    return str(write_pair(KEY, str(tmp_path / "dev"))[1])


def test_a_directory_of_whole_segments_is_verified(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        written(tmp_path / "ledger")
    assert main(["ledger", "verify", str(tmp_path / "ledger"), "--trust", key]) == 0
    output = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in output] == ["verified", "verified"]
    assert all(f"7 lines, signed by {KEY.public.id}" in line for line in output)


def test_a_change_is_reported_with_its_reason(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "ledger")
    put_lines(path, lines_of(path)[:2])
    written(tmp_path / "ledger")
    assert main(["ledger", "verify", str(tmp_path / "ledger"), "--trust", key]) == 1
    output = capsys.readouterr().out
    assert f"FAILURE {path.name}: entries-missing: 3 lines were signed, but 2 are present" in output


def test_a_segment_of_a_killed_process_is_incomplete(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, killed=True)
    path.write_bytes(path.read_bytes() + b"{")
    assert main(["ledger", "verify", str(path), "--trust", key]) == 3
    output = capsys.readouterr().out
    assert (
        "6 lines, the last 1 not signed; 1 bytes of a line that was not written completely; not closed"
        in output
    )


def test_without_a_pinned_key_nothing_is_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "verify", str(written(tmp_path))]) == 3
    assert "signatures not checked (no --trust)" in capsys.readouterr().out


def test_a_ledger_without_a_key_is_not_verified(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "verify", str(written(tmp_path, None)), "--trust", key]) == 3
    assert "none of them signed" in capsys.readouterr().out


def test_somebody_elses_signature_is_none(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "verify", str(written(tmp_path, OTHER)), "--trust", key]) == 1
    assert "which is not pinned" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "which action?\n  write `assay ledger verify|show …`"),
        (["verify", "nowhere.jsonl"], "cannot read nowhere.jsonl: No such file"),
        (["show", "nowhere.jsonl"], "cannot read nowhere.jsonl: No such file"),
        (["verify", "notes.txt"], "notes.txt is not a segment of a ledger"),
        (["verify", "x.checkpoints.jsonl"], "x.checkpoints.jsonl is not a segment"),
        (["verify", "x.jsonl", "--trust", "no.pub"], "cannot read no.pub"),
    ],
)
def test_what_is_no_ledger(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_directory_without_segments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "verify", str(tmp_path)]) == 2
    assert "no segment in" in capsys.readouterr().err


def test_it_shows_a_line_for_each_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger(tmp_path, KEY)
    ledger.append(record("note\n\x1b[31m", session=None))
    ledger.close()
    assert main(["ledger", "show", str(tmp_path)]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.split()[2:4] == ["opened", ledger.name]
    assert first.split("  ")[-2] == "may lose 0.05 s"
    assert "tool_invocation   note␊␛[31m  short-30d  principal hmac:" in second
    assert third.split()[2] == "closed"


def test_it_shows_up_to_where_something_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path)
    lines = lines_of(path)
    put_lines(path, [*lines[:3], lines[3].replace(b"tool-2", b"tool-x")])
    assert main(["ledger", "show", str(path)]) == 1
    assert "wrong-hash: line 3" in capsys.readouterr().out


def test_a_reader_that_leaves_is_no_failure(tmp_path: Path) -> None:
    path = written(tmp_path)
    command = f"{warm_python()} -m assay ledger show {path} | head -1"
    done = subprocess.run(command, check=False, shell=True, capture_output=True, text=True, timeout=60)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")
