"""Judge the bundled servers on each revision and transport, and talk to them.

The lab judges both with its protocol suite (`demo_lab.py`). Meanwhile conversations are held and printed: the
servers are processes of their own, the client is plain code over pipes and sockets (`demo_link.py`), and
every answer is checked: `demo_talk.py` and `demo_described.py` for the everything server, `demo_reference.py`
for the reference server. Arguments are for the lab.

Exit codes: 0 all is well, 1 something is not, 130 interrupted.
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
from demo_link import PATIENCE, HttpLink, Link, PlainHttpLink, StdioLink, Unexpected
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
"""Transports whose server listens: what `--transport` is then, and the way to it."""
ENDPOINT: Final = re.compile(rb"MCP endpoint: (\S+)")
OK: Final = "ok"
Outcomes = dict[tuple[str, str], str]


class Act(NamedTuple):
    """A server, what is talked about with it, and over what besides stdio."""

    server: str
    hold: Mapping[Opening, Hold]
    listening: Mapping[str, tuple[str, Connect]]
    judged: tuple[str, ...]
    """Over what the lab judges it."""

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
        # On stdio it is judged by the tests: processes are what takes time here.
        ("http", "ws"),
    ),
)


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


def talk_over_stdio(act: Act, revision: Revision) -> None:
    with started(act.command) as process:
        act.hold[revision.opening](StdioLink(process, demo_talk.respond), revision)


def talk_at(act: Act, url: str, connect: Connect, revision: Revision) -> None:
    act.hold[revision.opening](connect(url, demo_talk.respond), revision)


def attempt(talk: Callable[..., None], *arguments: object) -> str:
    """Hold one conversation; a failure ends it, not the demo."""
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
    # An exception, so that the servers are stopped on the way out.
    raise KeyboardInterrupt


def main(options: list[str]) -> int:
    signal.signal(signal.SIGTERM, terminated)
    begin = time.monotonic()
    with ExitStack() as stack:
        judged = [stack.enter_context(demo_lab.judging(act.server, act.judged, options)) for act in ACTS]
        acts = {act.server: talk_over_all(act) for act in ACTS}
        conforming = [run.server for run in judged if run.show()]
    for server, outcomes in acts.items():
        print_table(server, outcomes)
    told = [outcome for outcomes in acts.values() for outcome in outcomes.values()]
    good = told.count(OK)
    print(f"\n{good} of {len(told)} conversations went well")
    print(
        f"{len(conforming)} of {len(judged)} servers conform, by the lab; "
        f"all took {time.monotonic() - begin:.1f} s"
    )
    return 0 if good == len(told) and len(conforming) == len(judged) else 1


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # Whoever read our output has left. Python flushes once more at exit: to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
