"""How the programs of this folder end: with an exit code, an error message, and no child process left."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Collection

from interop.official import Aborted, Exit


def stop_on_request() -> None:
    """Treat SIGTERM as a cancellation, as asyncio already does with SIGINT."""
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)


def exit_code(work: Callable[[], int]) -> int:
    """Run the work and turn the way it ends into an exit code."""
    try:
        return work()
    except* Aborted as group:
        aborted = first_of(group)
        print(f"error: {aborted}", file=sys.stderr)
        code: int = aborted.code
    except* (KeyboardInterrupt, asyncio.CancelledError):
        code = Exit.INTERRUPTED
    return code


def first_of(group: BaseExceptionGroup[Aborted]) -> Aborted:
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, Aborted)
    return first


def check_names(
    parser: argparse.ArgumentParser, names: Collection[str], known: Collection[str], kind: str
) -> None:
    """Exit with a usage error if a name is unknown."""
    if unknown := {*names} - {*known}:
        parser.error(f"unknown {kind}: {', '.join(sorted(unknown))}; one of {', '.join(known)}")
