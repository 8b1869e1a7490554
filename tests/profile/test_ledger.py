"""Writing a ledger: accepted records, lines on disk, and failing disks."""

import json
import os
import stat
import threading
from pathlib import Path
from shutil import rmtree

import pytest

from assay.profile.ledger import REMEMBERED, Ledger, keyed_hash
from assay.profile.ledger_entry import MAX_SEGMENTS, Entry, segments
from assay.profile.ledger_reader import SegmentReader, verify_segment
from assay.profile.port import LedgerFailed, LedgerPosition, Record
from tests.profile.ledgers import KEY, TRUST, checkpoints_of, lines_of, record

DIGEST = "sha256:" + "0" * 64


def entries(path: Path) -> list[Entry]:
    return [entry.line for entry in SegmentReader(path) if isinstance(entry.line, Entry)]


def test_a_record_is_told_where_it_stands(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, KEY)
    first, second = ledger.append(record("one")), ledger.append(record("two"))
    ledger.close()
    hashes = [json.loads(line)["entryHash"] for line in lines_of(ledger.path)]
    assert [first, second] == [LedgerPosition(1, hashes[1]), LedgerPosition(2, hashes[2])]


def test_the_first_line_states_what_a_crash_can_cost(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, KEY, flush=0.2, checkpoint=7, settle=3.0, fsync=True)
    ledger.close()
    first = json.loads(lines_of(ledger.path)[0])
    settings = {"flushSeconds": 0.2, "checkpointEntries": 7, "checkpointSeconds": 3.0, "fsync": True}
    assert (first["event"], first["settings"], first["keyId"]) == ("opened", settings, KEY.public.id)


def test_what_was_taken_is_written_without_being_asked_for(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, flush=0.001)
    ledger.append(record())
    while len(lines_of(ledger.path)) < 2:  # the thread brings it there; the guard is pytest's
        threading.Event().wait(0.001)
    ledger.close()


def test_few_lines_are_signed_after_a_while(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, KEY, flush=0.001, settle=0.01)
    ledger.append(record())
    while len(lines_of(checkpoints_of(ledger.path))) < 2:
        threading.Event().wait(0.001)
    ledger.close()


def test_each_opening_has_a_segment_of_its_own(tmp_path: Path) -> None:
    for _ in range(3):
        Ledger(tmp_path, KEY).close()
    assert len(segments(tmp_path)) == 3
    assert all(verify_segment(path, TRUST).is_complete for path in segments(tmp_path))


def test_names_can_be_recognised_with_the_key_beside_it_only(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append(record(session="s", principal="ada"))
    ledger.append(record(session=None, principal=None))
    ledger.close()
    place = tmp_path / f"{ledger.name}.names.key"
    known, unknown = entries(ledger.path)
    key = place.read_bytes()
    assert (known.principal, known.session) == (
        keyed_hash(key, "principal", "ada"),
        keyed_hash(key, "session", "s"),
    )
    assert (unknown.principal, unknown.session) == (None, None)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_the_same_name_is_another_one_in_another_segment(tmp_path: Path) -> None:
    principals = set()
    for _ in range(2):
        ledger = Ledger(tmp_path)
        ledger.append(record(principal="ada"))
        ledger.close()
        principals.add(entries(ledger.path)[0].principal)
    assert len(principals) == 2


def test_many_names_take_no_more_room_than_some(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for number in [*range(REMEMBERED + 1), 0]:
        ledger.append(record(principal=f"user-{number}"))
    ledger.close()
    lines = entries(ledger.path)
    assert lines[0].principal == lines[-1].principal != lines[1].principal


def test_a_long_name_of_a_target_is_kept_as_its_digest(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, KEY)
    ledger.append(record("file:///" + "x" * 5000))
    ledger.close()
    assert entries(ledger.path)[0].target.startswith("sha256:")
    assert verify_segment(ledger.path, TRUST).is_complete


def test_threads_may_append_at_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, KEY, flush=0.0)
    gate = threading.Barrier(4)

    def work() -> None:
        gate.wait()
        for _ in range(200):
            ledger.append(record())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger.close()
    segment = verify_segment(ledger.path, TRUST)
    assert (segment.lines, segment.is_complete) == (802, True)


@pytest.mark.parametrize(
    "bad",
    [
        Record("opened", "x", DIGEST, DIGEST, "short-30d"),
        Record("closed", "x", DIGEST, DIGEST, "short-30d"),
        Record("tool_invocation", "x", "", DIGEST, "short-30d"),
        Record("tool_invocation", "x", DIGEST, "sha256:", "short-30d"),
    ],
)
def test_a_record_that_is_none_is_refused(bad: Record, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    with pytest.raises(ValueError, match="not a ledger record"):
        ledger.append(bad)
    ledger.close()
    assert len(lines_of(ledger.path)) == 2


def test_a_closed_ledger_takes_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerFailed, match="is closed"):
        ledger.append(record())
    with pytest.raises(LedgerFailed, match="is closed"):
        ledger.ready()


def test_a_removed_file_is_noticed_although_it_can_be_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", backlog=3)
    ledger.ready()
    rmtree(tmp_path / "ledger")
    ledger.append(record())
    with pytest.raises(LedgerFailed, match="cannot be written: No such file"):
        ledger.sync()
    with pytest.raises(LedgerFailed, match="cannot be written: No such file"):
        ledger.ready()
    ledger.append(record())
    ledger.append(record())
    with pytest.raises(LedgerFailed, match="is 3 lines behind its disk"):
        ledger.append(record())
    with pytest.raises(LedgerFailed, match=r"4 lines of the ledger .* were lost: No such file"):
        ledger.close()


def test_a_file_that_somebody_else_writes_to_is_left_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    with ledger.path.open("ab") as file:
        file.write(b"hello\n")
    ledger.append(record())
    with pytest.raises(LedgerFailed, match=r"the file has \d+ bytes instead of \d+"):
        ledger.sync()
    with pytest.raises(LedgerFailed):
        ledger.close()
    assert lines_of(ledger.path)[-1] == b"hello"


def test_another_file_in_its_place_is_noticed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.path.rename(tmp_path / "away")
    ledger.path.write_bytes((tmp_path / "away").read_bytes())
    with pytest.raises(LedgerFailed, match="the file was replaced"):
        ledger.sync()
    with pytest.raises(LedgerFailed):
        ledger.close()


def test_where_nothing_can_be_written_none_is_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerFailed, match=r"cannot write a ledger in .*file"):
        Ledger(tmp_path / "file")


def test_a_directory_with_too_many_segments_gets_no_other(tmp_path: Path) -> None:
    for number in range(MAX_SEGMENTS):
        os.mknod(tmp_path / f"{number}.jsonl")
    with pytest.raises(LedgerFailed, match="move old ones elsewhere"):
        Ledger(tmp_path)
