"""Several workers behind one port: they are replaced, drained and renewed, and no connection is refused."""

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.transport.workers.parent import KEY_BYTES
from tests.transport.workers.workers import (
    PATIENCE,
    Workers,
    await_end,
    start,
    workers,
    write,
)

pytestmark = [pytest.mark.long, pytest.mark.timeout(60)]

FAILING = """
import os
from assay import Server
server = Server("failing", store="memory:")
if "ASSAY_WORKER" in os.environ:
    {text}
else:
    server.run("http", port=0, workers=3)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("workers") / "several.py")


@pytest.fixture(scope="module")
def served(program: Path) -> Iterator[Workers]:
    """One server for all tests that leave it as it was."""
    with workers(program) as running:
        running.wait_for_two()
        yield running


def test_connections_are_spread_over_the_workers(served: Workers) -> None:
    served.wait_for_two()
    calls = [served.call("pid") for _ in range(100)]
    assert min(calls.count(pid) for pid in set(calls)) >= 25


def test_killed_worker_is_replaced_and_no_connection_waits_for_it(served: Workers) -> None:
    victim, survivor = served.wait_for_two()
    os.kill(victim, signal.SIGKILL)
    await_end([victim])
    # Half of these connections arrive on the socket of the missing worker.
    assert served.pids() >= {survivor}
    after = served.wait_for_two()
    assert survivor in after and victim not in after
    assert f"worker {victim} was ended by SIGKILL: another starts" in served.errors


def test_worker_whose_event_loop_is_blocked_is_killed_and_replaced(served: Workers) -> None:
    before = served.wait_for_two()
    with pytest.raises(ConnectionError):
        served.call("block", seconds=50)
    served.until(lambda: "has been stuck for 2 s: it is killed" in served.errors)
    assert len(served.wait_for_two() & before) == 1


def test_stopped_worker_is_killed_and_replaced(served: Workers) -> None:
    stopped, other = served.wait_for_two()
    os.kill(stopped, signal.SIGSTOP)
    await_end([stopped])
    assert other in served.wait_for_two()


def test_parent_that_was_suspended_does_not_kill_its_workers(served: Workers) -> None:
    before = served.wait_for_two()
    served.send(signal.SIGSTOP)
    done = threading.Event()
    threading.Timer(3.5, done.set).start()
    assert done.wait(PATIENCE)  # longer than a worker may be silent
    served.send(signal.SIGCONT)
    served.send(signal.SIGCHLD)
    assert served.wait_for_two() == before


def test_sighup_loads_the_program_anew_without_a_refused_connection(served: Workers, program: Path) -> None:
    version = secrets.token_hex(4)
    before = served.wait_for_two()
    write(program, version)
    served.send(signal.SIGHUP)
    served.until(lambda: {*served.call("version")} == {version})
    await_end(before)
    assert not before & served.wait_for_two()


def test_sighup_with_a_program_that_does_not_start_keeps_the_workers(served: Workers, program: Path) -> None:
    before = served.wait_for_two()
    working = program.read_text()
    program.write_text("raise ValueError('broken on purpose')")
    failures = served.errors.count("the present workers stay")
    served.send(signal.SIGHUP)
    try:
        served.until(lambda: served.errors.count("the present workers stay") > failures)
    finally:
        program.write_text(working)
    assert served.wait_for_two() == before


def test_two_sighups_in_a_row_end_with_two_new_workers(served: Workers) -> None:
    before = served.wait_for_two()
    served.send(signal.SIGHUP)
    served.send(signal.SIGHUP)
    await_end(before)
    assert not served.wait_for_two() & before


def test_key_of_the_workers_is_shared_and_is_in_no_command_line_or_environment(served: Workers) -> None:
    served.wait_for_two()
    seen = [served.call("visible") for _ in range(12)]
    assert len({seal for _, _, seal in seen}) == 1
    for line, environment, _ in seen:
        words = f"{line}\0{environment}".replace("=", "\0").split("\0")
        assert "several.py" in line
        assert not any(len(word) == 2 * KEY_BYTES and int(word, 16) for word in words if word.isalnum())


def test_probes_answer_and_know_nothing_of_the_host(served: Workers) -> None:
    for path in ("/health", "/ready"):
        with served.request("GET", path, Host="10.1.2.3:8080") as response:
            assert response.status == 200


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_signal_ends_all_processes_and_the_directory_of_the_store(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with workers(write(tmp_path / "several.py"), env={"TMPDIR": str(temporary)}) as running:
        pids = running.wait_for_two()
        (directory,) = temporary.iterdir()
        assert directory.stat().st_mode & 0o777 == 0o700
        running.send(number)
        assert running.process.wait(PATIENCE) == code
        await_end(pids)
        assert "Traceback" not in running.errors
    assert list(temporary.iterdir()) == []


def test_workers_end_when_their_parent_was_killed(tmp_path: Path) -> None:
    with workers(write(tmp_path / "several.py")) as running:
        pids = running.wait_for_two()
        running.send(signal.SIGKILL)
        running.process.wait(PATIENCE)
        await_end(pids)


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("raise ValueError('broken')", 1, "ValueError: broken"),
        ("import sys; sys.exit(7)", 7, ""),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            4,
            "was ended by SIGKILL before it served",
        ),
        ("", 4, "has ended with exit code 0 before it served"),
        ("server.run('http', port=0, tls_cert='none.pem', workers=2)", 1, "TlsError:"),
    ],
)
def test_worker_that_cannot_start_ends_the_command_at_once(
    tmp_path: Path, text: str, code: int, problem: str
) -> None:
    """The parent runs the program up to `run`, a worker something else."""
    path = tmp_path / "failing.py"
    path.write_text(FAILING.format(text=text or "pass"))
    process = start(path, str(path))
    assert process.wait(PATIENCE) == code
    assert process.stdout is not None
    process.stdout.close()
    errors = path.with_suffix(".errors").read_text()
    assert problem in errors
    assert errors.count(problem) == 1 or not problem


def test_taken_port_is_refused_although_workers_share_ports(served: Workers, tmp_path: Path) -> None:
    path = write(tmp_path / "several.py").with_name("second.py")
    path.write_text((tmp_path / "several.py").read_text().replace("port=0", f"port={served.port}"))
    process = start(path, str(path))
    assert process.wait(PATIENCE) == 4
    assert process.stdout is not None
    process.stdout.close()
    assert f"port {served.port} is in use" in path.with_suffix(".errors").read_text()
