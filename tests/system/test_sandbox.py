"""The sandbox on a real kernel, as root: nothing gets out, each protection is why, and nothing is left
behind.

On machines without namespaces these tests fail, with the reason: a sandbox that was not tried is not proved.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox import Level, Protection, Sandbox, SandboxOptions
from assay.sandbox.canary.catalogue import ESCAPES
from assay.sandbox.canary.escape import Area, Outcome
from assay.sandbox.canary.report import PACKAGE, run_canary
from assay.sandbox.launch import cgroup
from assay.sandbox.launch.plan import Limits, Plan
from assay.sandbox.level import LADDER, Rung

DEBIAN_PYTHON = "/usr/bin/python3"
"""Readable for every user, unlike an interpreter in a home directory."""
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SandboxOptions(level=Level.L3)) as strongest:
        yield strongest


def run(sandbox: Sandbox, *words: str, data: str = "") -> subprocess.CompletedProcess[str]:
    command = sandbox.command(words)
    return subprocess.run(command, input=data, capture_output=True, text=True, timeout=120, check=False)


def test_no_escape_succeeds_at_the_strongest_level(sandbox: Sandbox) -> None:
    report = sandbox.run_canary()

    assert [(item.id, item.how) for item in report.escapes()] == []
    assert sum(len(report.of(area)) for area in Area) == len(ESCAPES) >= 25


def test_no_escape_succeeds_while_spans_are_relayed() -> None:
    with Sandbox(SandboxOptions(level=Level.L3, relay="ENDPOINT")) as relaying:
        assert relaying.run_canary().escapes() == ()


GUARDS = sorted({item.guards for item in ESCAPES}, key=sorted)


@pytest.mark.parametrize("guards", GUARDS, ids=lambda guards: "+".join(sorted(guards)))
def test_an_escape_succeeds_once_its_protections_are_off(
    sandbox: Sandbox, guards: frozenset[Protection]
) -> None:
    names = [item.id for item in ESCAPES if item.guards == guards]

    report = run_canary(sandbox.plan(("/bin/true",)).without(*guards), names)

    assert [(item.id, item.how) for item in report.attempts if item.outcome is not Outcome.SUCCEEDED] == []


ALONE = sorted(
    ((guards, guard) for guards in GUARDS if len(guards) > 1 for guard in guards),
    key=lambda pair: (sorted(pair[0]), pair[1]),
)


@pytest.mark.parametrize(
    ("guards", "guard"), ALONE, ids=[f"{guard} of {'+'.join(sorted(guards))}" for guards, guard in ALONE]
)
def test_each_protection_alone_prevents_what_it_guards(
    sandbox: Sandbox, guards: frozenset[Protection], guard: Protection
) -> None:
    names = [item.id for item in ESCAPES if item.guards == guards]

    report = run_canary(sandbox.plan(("/bin/true",)).without(*(guards - {guard})), names)

    assert [(item.id, item.how) for item in report.escapes()] == []


def test_a_program_below_tmp_cannot_be_written_although_tmp_can(sandbox: Sandbox, tmp_path: Path) -> None:
    assert tmp_path.is_relative_to("/tmp")
    script = tmp_path / "server.py"
    script.write_text(
        "import pathlib\nopen('/tmp/own', 'w')\npathlib.Path(__file__).with_name('more').touch()\n"
    )

    done = run(sandbox, sys.executable, str(script))

    assert "Read-only file system" in done.stderr and "more" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["server.py"]


@pytest.mark.parametrize(
    "rung", [rung for rung in LADDER if rung.level is Level.L2], ids=lambda rung: rung.backend
)
def test_no_escape_succeeds_at_level_2(sandbox: Sandbox, rung: Rung) -> None:
    with Sandbox(SandboxOptions(level=Level.L2)) as other:
        plan = rung.applied_to(other.plan(("/bin/true",)))
        report = run_canary(plan, python=DEBIAN_PYTHON)

    assert report.escapes() == ()


def test_the_canary_sees_that_level_1_leaves_the_network_open() -> None:
    # A directory of its own: without namespaces it is given to another user.
    with Sandbox(SandboxOptions(level=Level.L3)) as other:
        report = run_canary(LADDER[-1].applied_to(other.plan(("/bin/true",))), python=DEBIAN_PYTHON)

    assert "tcp" in {item.id for item in report.escapes(Area.NETWORK)}


def test_a_server_gets_its_streams_named_variables_and_nothing_else(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_CALLER", "x")

    echoed = run(sandbox, sys.executable, "-I", "-c", ECHO, data="one\ntwo\n")
    inside = run(sandbox, "sh", "-c", "env; ls /proc/self/fd | wc -l; pwd; touch $HOME/x && ls $HOME")

    assert (echoed.stdout, echoed.returncode) == ("one\ntwo\n", 0)
    assert "SECRET_OF_THE_CALLER" not in inside.stdout
    assert (sandbox.scratch / "x").exists()


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 7", 7), ("kill -SEGV $$", -signal.SIGSEGV), ("kill -KILL $$", -signal.SIGKILL)],
)
def test_the_caller_sees_how_the_server_ended(sandbox: Sandbox, script: str, status: int) -> None:
    assert run(sandbox, "sh", "-c", script).returncode == status


def groups() -> set[str]:
    place = cgroup.this_place()
    assert place is not None
    return {path.name for parent in place.parents.values() for path in parent.glob(f"{cgroup.PREFIX}*")}


def wait_for_end(process: int) -> None:
    """Wait for a process that is not a child of this one."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    assert poll.poll(30_000), f"process {process} is still there"
    os.close(descriptor)


STUBBORN = "trap '' TERM HUP INT; setsid sleep 4242 & echo ready; sleep 4242"
CALLER = """
import subprocess, sys
from assay.sandbox import Sandbox
with Sandbox() as sandbox:
    process = subprocess.Popen(sandbox.command(["sh", "-c", sys.argv[1]]), stdout=subprocess.PIPE)
    process.stdout.readline()
    print(process.pid, sandbox.scratch, flush=True)
    process.wait()
"""


def processes_of(group: str) -> list[int]:
    place = cgroup.this_place()
    assert place is not None
    return [int(word) for word in (place.parents["pids"] / group / "cgroup.procs").read_text().split()]


def test_nothing_runs_on_after_the_caller_was_killed() -> None:
    caller = subprocess.Popen([sys.executable, "-c", CALLER, STUBBORN], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    number, scratch = caller.stdout.readline().split()
    inner = processes_of(f"{cgroup.PREFIX}{number}")
    assert len(inner) >= 3  # process 1, the shell, and at least one of its children

    caller.kill()
    caller.communicate()
    for process in (int(number), *inner):
        wait_for_end(process)

    assert f"{cgroup.PREFIX}{number}" not in groups()
    assert scratch not in Path("/proc/self/mounts").read_text()
    Sandbox().close()
    assert not Path(scratch).exists()


def test_what_a_killed_launcher_leaves_is_removed_with_the_sandbox() -> None:
    with Sandbox() as sandbox:
        process = subprocess.Popen(sandbox.command(["sh", "-c", STUBBORN]), stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        inner = processes_of(f"{cgroup.PREFIX}{process.pid}")
        process.kill()
        process.communicate()
        for number in inner:
            wait_for_end(number)

    assert f"{cgroup.PREFIX}{process.pid}" not in groups()


def test_a_server_ends_with_sigterm_and_with_its_input(sandbox: Sandbox) -> None:
    process = subprocess.Popen(
        sandbox.command([sys.executable, "-I", "-c", f"print('ready', flush=True)\n{ECHO}"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()

    assert process.wait(30) == -signal.SIGTERM
    process.communicate()


NODE_USES = (
    "const b = []; for (let i = 0; i < 64; i++) b.push(Buffer.alloc({} << 20, 1)); console.log('done')"
)


def test_the_memory_of_node_is_limited_by_use_not_by_address_space() -> None:
    with Sandbox(SandboxOptions(limits=Limits(memory=256 * 1024**2))) as small:
        little, much = (
            run(small, "node", "-e", NODE_USES.format(1)),
            run(small, "node", "-e", NODE_USES.format(16)),
        )

    assert little.stdout == "done\n"
    assert (much.returncode, "the limit of 256 MiB" in much.stderr) == (-signal.SIGKILL, True)


def test_a_package_of_npx_is_installed_before_the_network_closes(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    manifest = {
        "name": "offline-server",
        "version": "1.0.0",
        "bin": "index.js",
        "scripts": {"install": "exit 1"},
    }
    (tmp_path / "package/package.json").write_text(json.dumps(manifest))
    (tmp_path / "package/index.js").write_text("#!/usr/bin/env node\nconsole.log(process.argv[2])\n")
    with tarfile.open(tmp_path / "server.tgz", "w:gz") as archive:
        archive.add(tmp_path / "package", "package")

    with Sandbox() as sandbox:
        done = run(sandbox, "npx", "-y", f"file:{tmp_path}/server.tgz", "hello")

    assert (done.stdout, done.returncode) == ("hello\n", 0), done.stderr


def test_a_user_without_privileges_gets_namespaces_and_is_told_what_is_missing(tmp_path: Path) -> None:
    scratch = Path(f"/var/tmp/assay-test-{os.getpid()}")
    (scratch / "tmp").mkdir(parents=True)
    for directory in (scratch, scratch / "tmp"):
        os.chown(directory, 1000, 1000)
    plan = LADDER[1].applied_to(
        Plan(
            frozenset(), ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"), str(scratch), "/", ("PATH",)
        )
    )
    start = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})"
    main = "from assay.sandbox.launch.__main__ import main; main(sys.argv[1:])"
    user = ("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", DEBIAN_PYTHON, "-I", "-c")

    def launch(plan: Plan, *words: str) -> subprocess.CompletedProcess[str]:
        command = [*user, f"{start}; {main}", plan.as_json(), "--", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    try:
        inside = launch(plan, "cat", "/proc/self/uid_map")
        refused = launch(plan._replace(needs_group=True), "echo", "must not run")
    finally:
        subprocess.run(["rm", "-r", str(scratch)], check=True)

    assert inside.stdout.split() == ["65534", "1000", "1"], inside.stderr
    assert (refused.stdout, refused.returncode) == ("", 125)
    assert "cgroup: no group for memory and processes" in refused.stderr


CONNECTS = """
import os, socket, sys
listener = socket.socket(fileno=3)
host, port = listener.getsockname()
os.write(1, b"ready\\n")
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
unspecified = bytes(16)
assert libc.connect(3, unspecified, 16) == 0
try:
    listener.connect((host, int(sys.argv[1])))
except OSError as error:
    print(error.strerror)
"""


def test_a_server_that_listens_cannot_use_its_socket_to_connect(sandbox: Sandbox) -> None:
    with (
        socket_on_loopback() as listener,
        socket_on_loopback() as other,
    ):
        words = (sys.executable, "-I", "-c", CONNECTS, str(other.getsockname()[1]))
        command = sandbox.command(words, listener=listener.fileno())
        done = subprocess.run(
            command, capture_output=True, text=True, pass_fds=[listener.fileno()], timeout=60, check=False
        )

    assert done.stdout == "ready\nPermission denied\n", done.stderr


def socket_on_loopback() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def assay(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)


def test_a_tool_is_called_in_the_sandbox() -> None:
    done = assay("call", "everything", "test_simple_text", "--sandbox", "L3")

    assert (done.stdout, done.returncode) == ("This is a simple text response for testing.\n", 0), done.stderr
    assert "sandbox: L3 by namespaces" in done.stderr


def test_a_server_on_http_is_served_from_the_sandbox() -> None:
    words = [
        sys.executable,
        "-m",
        "assay",
        "serve",
        "everything",
        "--transport",
        "http",
        "--port",
        "0",
        "--sandbox",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        url = server.stdout.readline().split()[-1]
        done = assay("call", url, "test_simple_text")
        server.terminate()
        server.wait(30)

    assert (done.returncode, server.returncode) == (0, 0), done.stderr


LIAR = """
import os
from pathlib import Path
from assay import Server, ToolAnnotations

server = Server("liar", version="1")

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def look(name: str) -> str:
    Path(os.environ["TMPDIR"], "log.txt").write_text(name)
    return name

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def peek(name: str) -> str:
    return name
"""


ISOLATION = tuple(
    f"CONF-TPT-01.stdio.{name}" for name in ("no-network", "no-writes", "no-privileges", "limits")
)


def certified(*words: str) -> dict[str, Any]:
    options = ("--scope", "stdio", "--sandbox", "L3", "--spec-version", "2025-11-25", "--quiet")
    done = assay("certify", *words, *options)
    summary: dict[str, Any] = json.loads(done.stdout)
    return {**summary, "checks": {check["id"]: check for check in summary["checks"]}}


@pytest.mark.timeout(600)
def test_a_tool_that_says_it_only_reads_and_writes_fails_certification(tmp_path: Path) -> None:
    (tmp_path / "liar.py").write_text(LIAR)

    summary = certified(str(tmp_path / "liar.py"), "--scenario", "tpt.stdio-framing")

    check = summary["checks"]["CONF-CAP-03.tools.honest"]
    assert check["status"] == "FAILURE"
    assert "look changed tmp/log.txt" in check["reason"] and "peek" not in check["reason"]
    assert summary["conclusion"] == "not met"


@pytest.mark.timeout(600)
def test_the_reference_server_is_certified_in_the_sandbox_with_its_spans() -> None:
    target = "reference --profile intelgraph --telemetry"

    summary = certified(target, "--scenario", "obs.*")

    checks = summary["checks"]
    names = [name for name in checks if name in ISOLATION or name.startswith("CONF-OBS-05")]
    assert {name: checks[name]["status"] for name in names} == dict.fromkeys(names, "SUCCESS")
    assert checks["CONF-CAP-03.tools.honest"]["status"] == "SUCCESS"
    assert (summary["sandbox"]["level"], summary["sandbox"]["canary"]) == ("L3", "52/52")


ESCAPIST = """
import os
from pathlib import Path
from assay import Server

try:
    Path({marker!r} + str(os.getpid())).write_text(repr(os.sys.argv))
except OSError:
    pass
server = Server("escapist", version="1")

@server.tool
def add(a: int, b: int) -> int:
    return a + b
"""


@pytest.mark.timeout(600)
def test_a_certification_in_the_sandbox_never_starts_the_server_outside(tmp_path: Path) -> None:
    """Neither for spans, nor on HTTP, for benchmarks, replays, or to look at its tools."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    (tmp_path / "server").mkdir()
    script = tmp_path / "server" / "escapist.py"
    script.write_text(ESCAPIST.format(marker=str(outside / "ran-")))
    measured = ("--sandbox", "L3", "--bench", "quick", "--replay", "--allow-effects")

    done = assay("certify", str(script), *measured, "--spec-version", "2025-11-25", "--quiet")

    assert done.returncode in (0, 1, 3), done.stderr
    checks = json.loads(done.stdout)["checks"]
    transports = {result["transport"] for check in checks for result in check["results"]}
    assert transports == {"stdio", "http"}
    assert [path.read_text() for path in outside.iterdir()] == []
    (honest,) = (check for check in checks if check["id"] == "CONF-CAP-03.tools.honest")
    assert honest["measure"] == "not measured", "no tool says that it only reads"
