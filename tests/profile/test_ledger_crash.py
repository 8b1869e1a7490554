"""The ledger of a real process that is killed, whose disk is full, or that forks."""

import os
import signal
import subprocess
from pathlib import Path

from assay.profile.ledger_entry import segments
from assay.profile.ledger_reader import verify_segment
from assay.signing.keys import write_pair
from tests.driving.warm_python import warm_python
from tests.profile.ledgers import KEY, TRUST

BEGINNING = """
import os, resource, sys
from pathlib import Path
from assay.profile.ledger import Ledger
from assay.profile.port import LedgerFailed, Record
from assay.signing.keys import read_signing_key

DIGEST = "sha256:" + "0" * 64
KEY = read_signing_key(Path(sys.argv[2]))

def append(ledger):
    return ledger.append(Record("tool_invocation", "write_note", DIGEST, DIGEST, "short-30d"))
"""
ENDLESS = """
ledger = Ledger(sys.argv[1], KEY, flush=0.001)
while True:
    taken = append(ledger)
    ledger.sync()
    print(taken.seq + 1, flush=True)
"""
FULL = """
ledger = Ledger(sys.argv[1], KEY, flush=0.001, backlog=100)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
try:
    while True:
        append(ledger)
        ledger.sync()
except LedgerFailed as failure:
    print(failure)
try:
    ledger.ready()
except LedgerFailed as failure:
    print(failure)
try:
    while True:
        append(ledger)
except LedgerFailed as failure:
    print(failure)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ledger.sync()
ledger.ready()
append(ledger)
ledger.close()
"""
FORKS = """
ledger = Ledger(sys.argv[1], KEY)
append(ledger)
if os.fork() == 0:
    try:
        ledger.ready()
    except LedgerFailed as failure:
        print(failure, flush=True)
    ledger.close()
    os._exit(0)
os.wait()
append(ledger)
"""


def started(script: str, directory: Path) -> subprocess.Popen[str]:
    if not (key := directory / "dev.key").exists():
        write_pair(KEY, str(directory / "dev"))
    command = [warm_python(), "-c", BEGINNING + script, str(directory / "ledger"), str(key)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finished(script: str, directory: Path) -> list[str]:
    process = started(script, directory)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output.splitlines()


def test_what_was_on_the_disk_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    process = started(ENDLESS, tmp_path)
    assert process.stdout is not None
    output = [int(process.stdout.readline()) for _ in range(600)]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (path,) = segments(tmp_path / "ledger")
    segment = verify_segment(path, TRUST)
    assert segment.lines >= output[-1]
    assert segment.signed >= 256
    assert not segment.closed


def test_a_full_disk_ends_in_refusals_and_loses_nothing(tmp_path: Path) -> None:
    first, second, third = finished(FULL, tmp_path)
    assert "cannot be written: File too large" in first
    assert second == first
    assert "is 100 lines behind its disk" in third
    (path,) = segments(tmp_path / "ledger")
    segment = verify_segment(path, TRUST)
    assert segment.is_complete
    assert segment.lines > 100


def test_a_fork_does_not_write_into_the_segment_of_its_parent(tmp_path: Path) -> None:
    (output,) = finished(FORKS, tmp_path)
    assert "belongs to another process" in output
    (path,) = segments(tmp_path / "ledger")
    # The process did not close it explicitly: its exit did.
    assert (verify_segment(path, TRUST).lines, verify_segment(path, TRUST).is_complete) == (4, True)


def test_a_torn_line_is_what_a_kill_in_the_middle_of_writing_leaves(tmp_path: Path) -> None:
    process = started(ENDLESS, tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (path,) = segments(tmp_path / "ledger")
    whole = verify_segment(path, TRUST)
    path.write_bytes(path.read_bytes() + b'{"effectsHash":"sha256:00')
    torn = verify_segment(path, TRUST)
    assert (torn.lines, torn.torn, torn.is_complete) == (whole.lines, 25, False)
