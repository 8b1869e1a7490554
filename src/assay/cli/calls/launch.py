"""Starts the server of a command, and imports the client while it starts: each takes about as long."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .connection import LEVELS, Connection

if TYPE_CHECKING:
    from assay.client.client import Client

    from .session import Deadline


def add_session(group: argparse._ArgumentGroup) -> None:
    """Options of commands during which a server may ask or report something."""
    add = group.add_argument
    add("--progress", action="store_true", help="show the server's progress on standard error")
    add(
        "--log", choices=LEVELS, metavar="LEVEL", help="show its log messages from this level: debug, info, …"
    )
    root = "a folder that the server may work in; repeatable"
    add("--root", action="append", default=[], metavar="DIR", help=root)
    answer = "answers to the server's questions, in order, as JSON objects; repeatable"
    add("--answer", action="append", default=[], metavar="JSON", help=answer)


def run(
    connection: Connection,
    work: Callable[[Client], Awaitable[int]],
    prepare: Callable[[], object] = lambda: None,
) -> int:
    """Do the work of a command that asks nothing. `prepare` loads what it needs while the server starts.

    Raises:
        CommandFailed: the server cannot be reached, or the work failed.
    """
    with _launched(connection):
        from .session import run_plain

        return run_plain(connection, work, prepare)


def run_session(
    connection: Connection,
    options: argparse.Namespace,
    work: Callable[[Client, Deadline], Awaitable[int]],
) -> int:
    """Do the work of a command during which the server may ask something.

    Raises:
        CommandFailed: the server cannot be reached, or the work failed.
    """
    with _launched(connection):
        from .session import run_asking

        return run_asking(connection, options, work)


@contextmanager
def _launched(connection: Connection) -> Iterator[None]:
    from assay.client.stdio import Stdio

    target = connection.target
    if not isinstance(target, Stdio) or sys.platform == "win32":
        yield
        return
    target.start()
    try:
        yield
    finally:
        target.end_started()  # an option may be wrong
