"""A `python` command that starts in a tenth of the time, for tests that start many Assay processes.

A short-lived process spends most of its CPU time importing modules. Here a fork server has imported them. The
command is a small script: it passes its arguments, directory, environment and standard streams to the fork
server, which forks a child that runs them as `python` would. The script forwards signals and ends as the
child ends; if it is killed, so is the child. Options that it does not know go to the real interpreter.

Tests about the start of a process itself (missing extras, process trees, memory) use `sys.executable`.
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FORK_SERVER = Path(__file__).with_name("fork_server.py")
# Builtin modules only: importing `socket` or `signal` would take longer than all the rest.
COMMAND = """#!{python} -ISE
import _signal, _socket, marshal, posix, sys

def run_in_fork_server():
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect({address!r})
    order = marshal.dumps((sys.argv[1:], posix.getcwd(), dict(posix.environ)))
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
    connection.sendmsg([len(order).to_bytes(4, "big")], rights)
    connection.sendall(order)
    child = int.from_bytes(connection.recv(4), "big")
    for number in CAUGHT:
        _signal.signal(number, lambda number, frame: pass_on(child, number))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, CAUGHT)
    nowhere = posix.open("/dev/null", posix.O_RDWR)
    for number in (0, 1, 2):
        posix.dup2(nowhere, number)
    return int.from_bytes(connection.recv(4), "big", signed=True)

def pass_on(child, number):
    try:
        posix.kill(child, number)
    except ProcessLookupError:
        pass

CAUGHT = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1)
if sys.argv[1:2] not in (["-m"], ["-c"]) and not (len(sys.argv) > 1 and sys.argv[1].endswith(".py")):
    posix.execv({python!r}, [{python!r}, *sys.argv[1:]])
_signal.pthread_sigmask(_signal.SIG_BLOCK, CAUGHT)
code = run_in_fork_server()
if code < 0:
    if -code in CAUGHT:
        _signal.signal(-code, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -code)
posix._exit(code)
"""


@functools.cache
def warm_python() -> str:
    """The path of the command. The fork server ends with the process that asked first."""
    directory = Path(tempfile.mkdtemp(prefix="warm-python-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    address = directory / "socket"
    # The fork server ends when its standard input ends, that is, with this process at the latest.
    server = subprocess.Popen(
        [sys.executable, str(FORK_SERVER), str(address)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(server.communicate)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n", "the fork server did not start"
    command = directory / "python"
    command.write_text(COMMAND.format(python=sys.executable, address=os.fspath(address)), "utf-8")
    command.chmod(0o700)
    return str(command)


def processor_times() -> dict[str, float]:
    """CPU seconds of the children that have ended, by the test file that asked for them."""
    times: dict[str, float] = {}
    for line in Path(warm_python()).with_name("socket.log").read_text("utf-8").splitlines():
        seconds, _, test = line.partition(" ")
        path = test.partition("::")[0]
        times[path] = times.get(path, 0) + float(seconds)
    return times
