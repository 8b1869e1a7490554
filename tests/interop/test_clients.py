"""The runner of `make interop`, with programs that are not clients."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL
from pathlib import Path

import pytest

from interop import clients
from interop.clients import EVERYTHING, PEERS, Job, judge, run_job
from interop.features import CLOSE, FEATURES, HANDSHAKE, PER_REQUEST, RESUME, Mark
from interop.official import Aborted, Exit
from interop.peer import run_jobs
from interop.relay import Relay
from tests.meta.test_pins import lock_breaches, pin_breaches
from tests.meta.tree import ROOT, expect_none

REPORTED = [feature for feature in FEATURES if feature != CLOSE]
REPORT_ALL = (
    "import json\n"
    f"for feature in {REPORTED!r}: print(json.dumps(dict(feature=feature, ok=True, detail='')))\n"
)


def job(tmp_path: Path, program: str, transport: str = "stdio") -> Job:
    script = tmp_path / "program.py"
    script.write_text(program)
    return Job(PEERS[0], HANDSHAKE, transport, (sys.executable, str(script)))


def ended(pid: int, timeout: float = 10) -> bool:
    """Wait for the end of a process that is not our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], timeout)[0])
    finally:
        os.close(descriptor)


async def test_a_program_that_reports_everything_fills_its_column(tmp_path: Path) -> None:
    column = await run_job(job(tmp_path, REPORT_ALL), tmp_path)
    assert {cell.mark for cell in column.cells.values()} == {Mark.WORKS}
    assert column.client == f"Python SDK {PEERS[0].version()}"


async def test_a_program_learns_where_the_servers_are(tmp_path: Path) -> None:
    program = "import sys\nopen(sys.argv[0] + '.task', 'w').write(sys.argv[1])\n"
    await run_job(job(tmp_path, program), tmp_path)
    task = json.loads((tmp_path / "program.py.task").read_text())
    assert (task["transport"], task["everything"], task["relayed"]) == ("stdio", [*EVERYTHING], None)
    assert task["revision"] == HANDSHAKE
    await run_job(job(tmp_path, program, "http"), tmp_path)
    task = json.loads((tmp_path / "program.py.task").read_text())
    urls = [task[name] for name in ("everything", "fixture", "reference", "relayed")]
    assert len(set(urls)) == 4 and all(url.startswith("http://localhost:") for url in urls)


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import sys; sys.exit(7)", "the program ended with code 7"),
        ("import time; time.sleep(60)", "the program did not end within 1 s"),
        ("print('x' * 2_000_000)", "the program printed a line longer than 1048576 bytes"),
        ("import os; os.kill(os.getpid(), 9)", "the program ended with code -9"),
    ],
    ids=["fails", "hangs", "floods", "dies"],
)
async def test_a_program_that_ends_badly_fails(
    tmp_path: Path, program: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "PROGRAM_TIMEOUT", 1.0)
    column = await run_job(job(tmp_path, program), tmp_path)
    assert {cell.mark for cell in column.cells.values()} == {Mark.FAILS}
    assert column.cells[CLOSE].detail == problem
    assert column.cells["tools"].detail == f"no line: {problem}"


async def test_what_a_program_leaves_running_is_ended(tmp_path: Path) -> None:
    leave = (
        "import subprocess, sys\n"
        "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], stdout=-3)\n"
        "open(sys.argv[0] + '.left', 'w').write(str(left.pid))\n"
    )
    await run_job(job(tmp_path, leave + REPORT_ALL), tmp_path)
    assert ended(int((tmp_path / "program.py.left").read_text()))


async def test_a_server_that_does_not_start_aborts_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "FIXTURE", (sys.executable, "-c", "raise SystemExit('no such server')"))
    with pytest.raises(ExceptionGroup) as raised:
        await run_jobs([job(tmp_path, REPORT_ALL, "http")], lambda each: run_job(each, tmp_path), 1)
    (aborted,) = raised.value.exceptions
    assert isinstance(aborted, Aborted) and aborted.code is Exit.SERVER_DID_NOT_START
    assert "no such server" in str(aborted)


def test_a_resumption_without_a_cut_is_not_believed() -> None:
    lines = [json.dumps({"feature": feature, "ok": True, "detail": ""}) for feature in REPORTED]
    relay = Relay("localhost", 1)
    assert judge(lines, "", frozenset(), relay)[RESUME].mark is Mark.FAILS
    relay.cuts.append("token")
    assert judge(lines, "", frozenset(), relay)[RESUME].mark is Mark.WORKS


def runner(tmp_path: Path, program: str, *arguments: str) -> list[str]:
    """The command, with an environment whose Python is `program`."""
    python = tmp_path / "python-sdk" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!{sys.executable}\n{program}")
    python.chmod(0o755)
    options = ["--environments", str(tmp_path), "--results", str(tmp_path / "results")]
    return [sys.executable, "-m", "interop.clients", *options, *(arguments or ["python-sdk"])]


@pytest.mark.parametrize(("program", "code"), [(REPORT_ALL, 0), ("", 1)], ids=["works", "says nothing"])
def test_the_exit_code_and_the_table_show_the_result(tmp_path: Path, program: str, code: int) -> None:
    command = runner(tmp_path, program, "python-sdk", "--transport", "stdio")
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=25, check=False)
    (row,) = (row for row in outcome.stdout.splitlines() if row.startswith("tools"))
    assert (row.split()[1], outcome.returncode) == ("✗" if code else "✓", code), outcome.stderr
    assert json.loads((tmp_path / "results" / "clients.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["no-such-sdk"], 2, "unknown client: no-such-sdk"),
        (["--quick", "--docs", "page.md"], 2, "--docs needs all clients"),
        (["--transport", "http", "--docs", "page.md"], 2, "--docs needs all clients"),
        (["--revision", PER_REQUEST, "--docs", "page.md"], 2, "--docs needs all clients"),
        (["fastmcp"], 3, "fastmcp is not installed"),
    ],
)
def test_what_cannot_run_is_reported(tmp_path: Path, arguments: list[str], code: int, text: str) -> None:
    command = runner(tmp_path, "", *arguments)
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=25, check=False)
    assert (outcome.returncode, text in outcome.stderr) == (code, True), outcome.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupted_run_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    hang = f"import os, time\nopen({str(started)!r}, 'w').write(f'{{os.getpid()}}')\ntime.sleep(60)\n"
    # Only one program: two would write into the pipe concurrently.
    command = runner(tmp_path, hang, "python-sdk", "--transport", "stdio", "--revision", HANDSHAKE)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=DEVNULL, stderr=DEVNULL)
    pid = int(await asyncio.wait_for(asyncio.to_thread(started.read_text), 20))
    process.send_signal(number)
    assert await asyncio.wait_for(process.wait(), 20) == Exit.INTERRUPTED
    assert ended(pid)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_the_packages_of_a_client_are_pinned_without_an_address(peer: clients.Peer) -> None:
    requirements = peer.folder / "requirements.txt"
    if requirements.is_file():
        expect_none(pin_breaches(requirements.read_text("utf-8")))
    else:
        expect_none(lock_breaches((peer.folder / "package-lock.json").read_text("utf-8")))
    assert peer.version()[0].isdigit()


def test_only_the_client_that_cannot_is_not_asked_for_the_newest_revision() -> None:
    assert [peer.name for peer in PEERS if PER_REQUEST not in peer.revisions] == ["typescript-sdk-1"]
    assert all(HANDSHAKE in peer.revisions for peer in PEERS)


def test_the_versions_are_the_ones_we_promise() -> None:
    versions = {peer.name: peer.version().rsplit(".", 1)[0] for peer in PEERS}
    assert versions == {
        "python-sdk": "2.3",
        "fastmcp": "4.1",
        "typescript-sdk-1": "1.32",
        "typescript-sdk-2": "2.4",
    }
