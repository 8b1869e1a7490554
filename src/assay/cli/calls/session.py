"""Opens a session with the server of a command, does the command's work, and closes it, also after Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from assay.cli.exit_code import CommandFailed, ExitCode, code_of
from assay.cli.output.stream import say
from assay.model.client_error import ClientError, Timeout

from .connection import Connection

if TYPE_CHECKING:
    from assay.client.client import Client
    from assay.model.notice import LogMessage, Progress

T = TypeVar("T")
DETAIL: Final = re.compile(r"\n  (?=body: |stderr: |not a message, on stdout: )")
"""Where an error of the client quotes what the server wrote, in lines below."""
OPTIONS: Final = {
    "pass auth=OAuth() or auth='token'": "pass --oauth, or --token TOKEN",
    "pass tls= with its authority": "pass --ca FILE with its authority",
    "; pass elicitation=, sampling= or roots= to Client": "; `assay call` answers forms, --root roots",
}
"""What errors of the client call an option, and what the commands do."""
DATA_CHARACTERS: Final = 2000
"""Of a log message."""


class Deadline:
    """A time-out for an answer that stops while the user answers a question of the server."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout: asyncio.Timeout | None = None
        self._pauses = 0

    async def wait(self, work: Awaitable[T]) -> T:
        """
        Raises:
            Timeout: it takes too long.
        """
        try:
            async with asyncio.timeout(self._seconds) as self._timeout:
                return await work
        except TimeoutError as error:
            if isinstance(error, ClientError):
                raise
            raise Timeout(f"no answer in {self._seconds:g} s; --timeout sets another time") from None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Several questions may wait at the same time."""
        self._pauses += 1
        self._reschedule(None)
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._reschedule(asyncio.get_running_loop().time() + self._seconds)

    def _reschedule(self, when: float | None) -> None:
        if self._timeout is not None:
            with contextlib.suppress(RuntimeError):  # the call has ended
                self._timeout.reschedule(when)


def run_plain(
    connection: Connection,
    work: Callable[[Client], Awaitable[int]],
    prepare: Callable[[], object] = lambda: None,
) -> int:
    """Do the work of a command that asks nothing. `prepare` loads what it needs while the server starts.

    Raises:
        CommandFailed: the server cannot be reached, or the work failed.
    """
    return run_loop(_work(connection, {}, work, prepare))


def run_asking(
    connection: Connection,
    options: argparse.Namespace,
    work: Callable[[Client, Deadline], Awaitable[int]],
) -> int:
    """Do the work of a command during which the server may ask something.

    Raises:
        CommandFailed: the server cannot be reached, or the work failed.
    """
    from .question import Questions

    deadline = Deadline(options.timeout)
    questions = Questions(options.answer, deadline.paused)
    further = {
        "elicitation": questions.answer,
        "roots": options.root or None,
        "on_log": show_log if options.log else None,
        "log_level": options.log,
    }

    async def session(client: Client) -> int:
        with contextlib.closing(questions):
            return await work(client, deadline)

    return run_loop(_work(connection, further, session))


def run_loop(work: Coroutine[Any, Any, int]) -> int:
    """Run a command's coroutine; SIGTERM ends it as Ctrl-C does."""
    try:
        return asyncio.run(work)
    except asyncio.CancelledError:  # by SIGTERM
        return ExitCode.INTERRUPTED


async def _work(
    connection: Connection,
    further: dict[str, Any],
    work: Callable[[Client], Awaitable[int]],
    prepare: Callable[[], object] = lambda: None,
) -> int:
    end_on_sigterm()
    client = make_client(connection, further)
    opening = asyncio.ensure_future(client.open())
    try:
        await asyncio.sleep(0)  # the server's process starts
        prepare()
        await opening
    except ClientError as error:
        hint = "`assay doctor`, with the same arguments, shows which step fails"
        raise failure(error, ExitCode.NOT_STARTED, hint) from error
    finally:
        await ended(opening)
    try:
        return await work(client)
    except ClientError as error:
        raise failure(error) from error
    finally:
        await client.close()


async def ended(opening: asyncio.Future[Any]) -> None:
    """No process is left behind if the command ends during the opening."""
    opening.cancel()
    await asyncio.wait([opening])


def make_client(connection: Connection, further: dict[str, Any]) -> Client:
    """
    Raises:
        CommandFailed: an option cannot be used.
    """
    from assay.client.client import Client

    try:
        return Client(connection.target, **connection.client, **further)
    except (OSError, TypeError, ValueError) as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def end_on_sigterm() -> None:
    """The server's process ends with this one; asyncio does the same for Ctrl-C."""
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows, or not the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def failure(error: ClientError, code: ExitCode | None = None, hint: str | None = None) -> CommandFailed:
    """An error of the client as the end of a command: in lines, as it quotes what the server wrote."""
    problem, *details = DETAIL.split(str(error))
    for of_client, of_command in OPTIONS.items():
        problem = problem.replace(of_client, of_command)
    return CommandFailed(code_of(error) if code is None else code, problem, hint, details)


def show_progress(progress: Progress) -> None:
    of = "" if progress.total is None else f" of {progress.total:g}"
    message = "" if progress.message is None else f": {progress.message[:DATA_CHARACTERS]}"
    say(f"progress {progress.progress:g}{of}{message}")


def show_log(message: LogMessage) -> None:
    import msgspec

    data = message.data if isinstance(message.data, str) else msgspec.json.encode(message.data).decode()
    logger = "" if message.logger is None else f" {message.logger}"
    say(f"{message.level}{logger}: {data[:DATA_CHARACTERS]}")
