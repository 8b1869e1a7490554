"""Faults of servers that are processes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from assay import (
    ClientState,
    ConnectionFailed,
    InvalidAnswer,
    Retry,
    ServerDied,
    Stdio,
    Timeout,
)
from tests.client.faults.row import HASTY, Fault, Target, calling, opening
from tests.client.scripted import process

LOST: Final = ClientState.LOST


def fixed(target: Any) -> Target:
    @contextlib.asynccontextmanager
    async def place() -> AsyncIterator[Any]:
        yield target() if callable(target) else target

    return place


def shell(text: str) -> Target:
    """A process that starts at once, also on a busy machine."""
    return fixed(Stdio("sh", "-c", text))


def on_call(text: str) -> Target:
    """A process that does this for a tool call, and lists no tools."""
    lines = text.replace("\n", "\n        ")
    return fixed(
        lambda: process(
            "for message in messages():\n"
            "    if message['method'] == 'tools/call':\n"
            f"        {lines}\n"
            "    else: answer(message, {'tools': []})"
        )
    )


@contextlib.asynccontextmanager
async def not_executable() -> AsyncIterator[Stdio]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "server"
        path.write_text("echo hello")
        yield Stdio(path)


@contextlib.asynccontextmanager
async def not_a_program() -> AsyncIterator[Stdio]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "server"
        path.write_bytes(b"\x00\x01")
        path.chmod(0o755)
        yield Stdio(path)


ROWS: Final[list[Fault]] = [
    opening(
        "the command does not exist",
        ConnectionFailed,
        "no-such-program was not found; install it, or check PATH",
        fixed(Stdio("no-such-program")),
    ),
    opening(
        "the file is not executable",
        ConnectionFailed,
        "Permission denied; make the file executable, or start it with its interpreter",
        not_executable,
    ),
    opening(
        "the file is not a program",
        ConnectionFailed,
        "Exec format error; is it built for this system?",
        not_a_program,
    ),
    opening(
        "the directory does not exist",
        ConnectionFailed,
        "the directory does not exist: /nowhere",
        fixed(Stdio("python3", cwd="/nowhere")),
    ),
    opening(
        "the process ends at once",
        ServerDied,
        "ended with exit code 3\n  stderr: TOKEN is not set",
        shell("echo 'TOKEN is not set' >&2; exit 3"),
    ),
    opening(
        "the process ends at once without a word",
        ServerDied,
        "ended with exit code 0; it wrote nothing: start the command in a terminal",
        shell("exit 0"),
    ),
    opening(
        "the process writes text instead of messages",
        Timeout,
        "not a message, on stdout: Listening on port 8000",
        shell("echo Listening on port 8000; cat > /dev/null"),
        limits=HASTY,
        timeout=0.2,
    ),
    opening(
        "the process never answers `initialize`",
        Timeout,
        "the server did not open a session in 0.6 s",
        shell("cat > /dev/null"),
        limits=HASTY,
        timeout=0.2,
    ),
    calling(
        "the process is killed during the call",
        ServerDied,
        "was ended by signal SIGKILL",
        on_call("os.kill(os.getpid(), signal.SIGKILL)"),
        state=LOST,
    ),
    calling(
        "the process ends during the call",
        ServerDied,
        "ended with exit code 1\n  stderr: out of memory",
        on_call("sys.exit('out of memory')"),
        state=LOST,
    ),
    calling(
        "the process has ended, and may not be started again",
        ServerDied,
        "ended with exit code 1",
        on_call("sys.exit(1)"),
        state=LOST,
        following="ServerDied",
        retry=Retry(restarts=0),
    ),
    calling(
        "the process closes its output, and runs on",
        ServerDied,
        "closed its input or output, but has not ended",
        on_call("sys.stdout.flush(); os.close(1); signal.pause()"),
        state=LOST,
    ),
    calling(
        "the process closes its input, and runs on: the next call starts another",
        None,
        "",
        on_call("os.close(0)\nanswer(message, {'content': []})\nsignal.pause()"),
    ),
    calling(
        "a stray line on standard output",
        None,
        "",
        on_call("print('debug: called', flush=True)\nanswer(message, {'content': []})"),
    ),
    calling(
        "a stray line, and no answer",
        Timeout,
        "no answer to tools/call in 0.5 s\n  not a message, on stdout: debug: called",
        on_call("print('debug: called', flush=True)"),
        timeout=0.5,
    ),
    calling(
        "no answer, and a reason on standard error",
        Timeout,
        "no answer to tools/call in 0.5 s\n  stderr: waiting for the database",
        on_call("print('waiting for the database', file=sys.stderr, flush=True)"),
        timeout=0.5,
    ),
    calling(
        "an answer with an unknown id",
        Timeout,
        "the server answered an unknown id: 'x'",
        on_call("send({'jsonrpc': '2.0', 'id': 'x', 'result': {}})"),
        timeout=0.5,
    ),
    calling(
        "an answer that is both result and error",
        InvalidAnswer,
        "the server's answer is invalid: ",
        on_call("send({'jsonrpc': '2.0', 'id': message['id'], 'result': 1, 'error': 2})"),
    ),
    calling(
        "a line without end",
        InvalidAnswer,
        "a line of more than 10000 bytes; if that is expected, raise limits.message_bytes",
        on_call("sys.stdout.write('x' * 20_000); sys.stdout.flush()"),
        state=LOST,
    ),
    calling(
        "the process ignores SIGTERM and the end of its input",
        None,
        "",
        on_call(
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "answer(message, {'content': []})\n"
            "answer(next(messages()), {'tools': []})\n"
            "while True: signal.pause()"
        ),
    ),
]
