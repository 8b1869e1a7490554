"""Judge the bundled servers on each revision and transport, and hold checked conversations with them.

The lab judges both with its protocol suite (`demo_lab.py`). Meanwhile this script prints conversations: the
servers are separate processes, the client is plain code over pipes and sockets (`demo_link.py`), and every
answer is checked: `demo_talk.py` and `demo_described.py` for the everything server, `demo_reference.py` for
the reference server. Arguments are passed to the lab.

Exit codes: 0 everything passed, 1 something failed, 130 interrupted.
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
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from typing import IO, Final, NamedTuple, NoReturn

import demo_described
import demo_lab
import demo_reference
import demo_show as show
import demo_talk
from demo_link import TIMEOUT, HttpLink, Link, PlainHttpLink, StdioLink, Unexpected
from demo_show import Json
from demo_socket import SocketLink

from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening, Revision

COMMAND: Final = (sys.executable, "-m", "assay", "serve")
Connect = Callable[[str, Callable[[Json], Json]], Link]
Hold = Callable[[Link, Revision], None]
LISTENING: Final[Mapping[str, tuple[str, Connect]]] = {
    "HTTP": ("http", HttpLink),
    "WebSocket": ("ws", SocketLink),
}
"""Transports of a listening server: the value of `--transport`, and the link."""
ENDPOINT: Final = re.compile(rb"MCP endpoint: (\S+)")
OK: Final = "ok"
Outcomes = dict[tuple[str, str], str]


class Act(NamedTuple):
    """A server, the conversations with it, and its transports besides stdio."""

    server: str
    hold: Mapping[Opening, Hold]
    listening: Mapping[str, tuple[str, Connect]]
    judged: tuple[str, ...]
    """Transports on which the lab judges it."""

    @property
    def command(self) -> tuple[str, ...]:
        return (*COMMAND, self.server)


ACTS: Final = (
    Act(
        "everything",
        {Opening.HANDSHAKE: demo_talk.hold, Opening.PER_REQUEST: demo_described.hold},
        LISTENING,
        ("stdio", "http", "ws"),
    ),
    Act(
        "reference",
        dict.fromkeys(Opening, demo_reference.hold),
        {**LISTENING, "plain HTTP": ("http-plain", PlainHttpLink)},
        # The tests judge it on stdio; starting processes takes most of the time here.
        ("http", "ws"),
    ),
)


@contextmanager
def started(command: tuple[str, ...]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, stop it afterwards, and show the end of its standard error."""
    with tempfile.TemporaryFile() as errors:
        # In a new session, so that Ctrl-C reaches only this script, which then stops the server.
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
    """Terminate, wait, kill. The pipes are closed last: a thread may read one until the process exits."""
    process.terminate()
    try:
        process.wait(TIMEOUT)
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
        pass  # the process has exited


def announced(process: subprocess.Popen[bytes]) -> str | None:
    """The endpoint that the server prints when it listens; None after a time-out."""
    assert process.stdout is not None
    overdue = threading.Timer(TIMEOUT, process.kill)
    overdue.start()
    try:
        for line in process.stdout:
            if match := ENDPOINT.search(line):
                return match[1].decode()
    finally:
        overdue.cancel()
    return None


def talk_over_stdio(act: Act, revision: Revision) -> None:
    with started(act.command) as process:
        act.hold[revision.opening](StdioLink(process, demo_talk.respond), revision)


def talk_at(act: Act, url: str, connect: Connect, revision: Revision) -> None:
    act.hold[revision.opening](connect(url, demo_talk.respond), revision)


def attempt(talk: Callable[..., None], *arguments: object) -> str:
    """Hold one conversation; a failure does not end the demo."""
    try:
        talk(*arguments)
    except (Unexpected, OSError, HTTPException, LookupError, ValueError, subprocess.SubprocessError) as error:
        text = str(error) if isinstance(error, Unexpected) else f"{type(error).__name__}: {error}"
        show.fault(text)
        return text
    return OK


def talk_over_all(act: Act) -> Outcomes:
    outcomes: Outcomes = {}
    for revision in REVISIONS:
        show.heading(f"{revision} over stdio: {as_typed(act.command)}")
        outcomes[revision.date, "stdio"] = attempt(talk_over_stdio, act, revision)
    for transport, (name, connect) in act.listening.items():
        command = (*act.command, "--transport", name, "--port", "0")
        outcomes |= {(revision.date, transport): "the server did not start" for revision in REVISIONS}
        with started(command) as process:
            url = announced(process)
            for revision in REVISIONS if url else ():
                show.heading(f"{revision} over {transport}: {as_typed(command)}, at {url}")
                outcomes[revision.date, transport] = attempt(talk_at, act, url, connect, revision)
    return outcomes


def as_typed(command: tuple[str, ...]) -> str:
    return " ".join(("assay", *command[3:]))


def print_table(server: str, outcomes: Outcomes) -> None:
    transports = list(dict.fromkeys(transport for _, transport in outcomes))
    show.heading(f"{server:<12}{''.join(f'{transport:<12}' for transport in transports)}".rstrip())
    for date in dict.fromkeys(date for date, _ in outcomes):
        marks = (outcomes[date, transport] == OK for transport in transports)
        cells = (
            show.paint(f"{'ok':<12}", "green") if ok else show.paint(f"{'FAILED':<12}", "red") for ok in marks
        )
        print(f"{date:<12}" + "".join(cells).rstrip())
    for (date, transport), outcome in outcomes.items():
        if outcome != OK:
            print(f"{date} over {transport}: {outcome}")


def terminated(_signal: int, _frame: object) -> NoReturn:
    # An exception unwinds the context managers, which stop the servers.
    raise KeyboardInterrupt


def main(options: list[str]) -> int:
    signal.signal(signal.SIGTERM, terminated)
    begin = time.monotonic()
    with ExitStack() as stack:
        judged = [stack.enter_context(demo_lab.lab_process(act.server, act.judged, options)) for act in ACTS]
        acts = {act.server: talk_over_all(act) for act in ACTS}
        conforming = [run.subject for run in judged if run.show()]
    for server, outcomes in acts.items():
        print_table(server, outcomes)
    results = [outcome for outcomes in acts.values() for outcome in outcomes.values()]
    good = results.count(OK)
    print(f"\n{good} of {len(results)} conversations passed")
    print(f"{len(conforming)} of {len(judged)} servers conform; finished in {time.monotonic() - begin:.1f} s")
    return 0 if good == len(results) and len(conforming) == len(judged) else 1


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of our output is gone. Python flushes again at exit, so redirect it to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
