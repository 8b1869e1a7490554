"""Talk to the everything server on each revision and transport, and print the conversation.

The servers are processes of their own, the client is plain code over pipes and sockets (`demo_link.py`), and
every answer is checked (`demo_talk.py`, `demo_described.py`). Exit codes: 0 all is well, 1 something is not,
130 interrupted.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import IO, Final, NoReturn

import demo_described
import demo_show as show
import demo_talk
from demo_link import PATIENCE, HttpLink, Link, StdioLink, Unexpected

from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening, Revision

COMMAND: Final = (sys.executable, "-m", "assay", "serve", "everything")
HTTP_COMMAND: Final = (*COMMAND, "--transport", "http", "--port", "0")
ENDPOINT: Final = re.compile(rb"MCP endpoint: (\S+)")
OK: Final = "ok"
HOLD: Final[Mapping[Opening, Callable[[Link, Revision], None]]] = {
    Opening.HANDSHAKE: demo_talk.hold,
    Opening.PER_REQUEST: demo_described.hold,
}
Outcomes = dict[tuple[str, str], str]


@contextmanager
def started(command: tuple[str, ...]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, leave no process behind, and show what it complained about."""
    with tempfile.TemporaryFile() as errors:
        # In a session of its own, so that Ctrl-C reaches this script only, which then stops the server.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
        try:
            yield process
        finally:
            stop(process)
            errors.seek(0)
            for line in errors.read().decode(errors="replace").splitlines()[-10:]:
                show.remark(f"stderr: {line}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask, wait, insist. The pipes are closed last: a thread may read from one until the process is gone."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            close(pipe)


def close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        pass  # what was still to be written is for nobody now


def announced(process: subprocess.Popen[bytes]) -> str | None:
    """The endpoint that the server prints once it listens; none when it prints none in time."""
    assert process.stdout is not None
    overdue = threading.Timer(PATIENCE, process.kill)
    overdue.start()
    try:
        for line in process.stdout:
            if match := ENDPOINT.search(line):
                return match[1].decode()
    finally:
        overdue.cancel()
    return None


def talk_over_stdio(revision: Revision) -> None:
    with started(COMMAND) as process:
        HOLD[revision.opening](StdioLink(process, demo_talk.respond), revision)


def talk_over_http(revision: Revision, url: str) -> None:
    HOLD[revision.opening](HttpLink(url, demo_talk.respond), revision)


def attempt(talk: Callable[..., None], *arguments: object) -> str:
    """Hold one conversation; a failure ends it, not the demo."""
    try:
        talk(*arguments)
    except (Unexpected, OSError, HTTPException, LookupError, ValueError, subprocess.SubprocessError) as error:
        text = str(error) if isinstance(error, Unexpected) else f"{type(error).__name__}: {error}"
        show.fault(text)
        return text
    return OK


def talk_over_all() -> Outcomes:
    outcomes: Outcomes = {}
    for revision in REVISIONS:
        show.heading(f"{revision} over stdio: {as_typed(COMMAND)}")
        outcomes[revision.date, "stdio"] = attempt(talk_over_stdio, revision)
    outcomes |= {(revision.date, "HTTP"): "the server did not start" for revision in REVISIONS}
    with started(HTTP_COMMAND) as process:
        url = announced(process)
        for revision in REVISIONS if url else ():
            show.heading(f"{revision} over HTTP: {as_typed(HTTP_COMMAND)}, at {url}")
            outcomes[revision.date, "HTTP"] = attempt(talk_over_http, revision, url)
    return outcomes


def as_typed(command: tuple[str, ...]) -> str:
    return " ".join(("assay", *command[3:]))


def print_table(outcomes: Mapping[tuple[str, str], str]) -> None:
    transports = list(dict.fromkeys(transport for _, transport in outcomes))
    show.heading(f"{'revision':<12}{''.join(f'{transport:<8}' for transport in transports)}".rstrip())
    for date in dict.fromkeys(date for date, _ in outcomes):
        marks = (outcomes[date, transport] == OK for transport in transports)
        cells = (
            show.paint(f"{'ok':<8}", "green") if ok else show.paint(f"{'FAILED':<8}", "red") for ok in marks
        )
        print(f"{date:<12}" + "".join(cells).rstrip())
    for (date, transport), outcome in outcomes.items():
        if outcome != OK:
            print(f"{date} over {transport}: {outcome}")


def terminated(_signal: int, _frame: object) -> NoReturn:
    # An exception, so that the servers are stopped on the way out.
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, terminated)
    begin = time.monotonic()
    outcomes = talk_over_all()
    print_table(outcomes)
    good = sum(outcome == OK for outcome in outcomes.values())
    print(f"\n{good} of {len(outcomes)} conversations went well, in {time.monotonic() - begin:.1f} s")
    return 0 if good == len(outcomes) else 1


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # Whoever read our output has left. Python flushes once more at exit: to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
