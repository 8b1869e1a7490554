"""How the programs of this folder end: with an exit code, a word of what went wrong, no child left behind."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Collection

from interop.official import Aborted, Exit


def stop_on_request() -> None:
    """SIGINT reaches the program as a cancellation already; SIGTERM does from here on."""
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)


def exit_code(work: Callable[[], int]) -> int:
    """Do the work to its end, whichever that is."""
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
    parser: argparse.ArgumentParser, given: Collection[str], known: Collection[str], what: str
) -> None:
    """End the program if a name that was given is none."""
    if unknown := {*given} - {*known}:
        parser.error(f"unknown {what}: {', '.join(sorted(unknown))}; one of {', '.join(known)}")
