"""The parent of several workers, from its first line to its exit code."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from assay.transport.http1.listening import listen

from .command import own_command
from .plan import Plan, check_count, check_stuck
from .sockets import siblings
from .supervisor import Supervisor

KEY_BYTES: Final = 32


def run_workers(
    count: object,
    *,
    host: str,
    port: int,
    stuck: object = None,
    store: str | None = None,
    say: Callable[[str], None] | None = None,
) -> int:
    """Serve with so many workers until a signal ends it; returns the exit code.

    Workers get one key for sealing, and a store that they share: without a URL, SQLite in a private directory
    that is removed at the end.

    Raises:
        TypeError, ValueError: an option is invalid.
        CannotStartWorkers: there is no program that workers could run.
        CannotListen: the address cannot be used.
    """
    workers = check_count(count)
    options: dict[str, Any] = {} if stuck is None else {"stuck": check_stuck(stuck)}
    if say is not None:
        options["say"] = say
    command = own_command()
    sockets = siblings(listen(host, port), workers)
    try:
        with shared_store(store) as url:
            setting = {"store": url, "key": secrets.token_hex(KEY_BYTES), "workers": workers}
            plan = Plan(workers=workers, command=command, setting=setting, **options)
            return Supervisor(plan, sockets).run()
    finally:
        for each in sockets:
            each.close()


@contextmanager
def shared_store(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    directory = Path(tempfile.mkdtemp(prefix="assay-workers-"))  # for its owner only: 0700
    try:
        yield f"sqlite:///{directory / 'state.db'}"
    finally:
        # A worker that was killed may have left a file that another user's clean-up removes first.
        shutil.rmtree(directory, ignore_errors=True)
