"""How a process learns that it is a worker, and the command line that starts one."""

from __future__ import annotations

import os
import sys
import threading
from typing import Final

from assay.model.error import CannotStartWorkers

VARIABLE: Final = "ASSAY_WORKER"
"""The parent's id and the descriptor of the channel to it. It is not a secret."""


def own_command() -> list[str]:
    """The command line of this process: a worker runs the same program, so that it has its present code.

    Raises:
        CannotStartWorkers: there is no such program, or this is not the main thread.
    """
    if sys.platform == "win32":
        fix = "start several processes on ports of their own, behind a proxy"
        raise CannotStartWorkers("several workers are not supported on Windows", fix)
    if threading.current_thread() is not threading.main_thread():
        fix = "call run(workers=…) in the main thread, which receives signals"
        raise CannotStartWorkers("several workers cannot be started from a thread", fix)
    main = sys.modules["__main__"]
    words = sys.orig_argv[1:]
    if not ("-c" in words or getattr(main, "__spec__", None) or os.path.isfile(_file_of(main))):
        fix = "save the program as a file and run that, or use `assay serve FILE --workers N`"
        raise CannotStartWorkers("workers run the program again, and there is no file to run", fix)
    return [sys.executable, *words]


def _file_of(main: object) -> str:
    path: str = getattr(main, "__file__", "")
    return path


def channel_descriptor() -> int | None:
    """The descriptor of the channel, if this process is a worker. Asking forgets it: processes that a worker
    starts are none."""
    parent, _, descriptor = os.environ.pop(VARIABLE, "").partition(":")
    if not (descriptor.isdecimal() and parent == str(os.getppid())):
        return None
    return int(descriptor)


def variable(descriptor: int) -> dict[str, str]:
    return {VARIABLE: f"{os.getpid()}:{descriptor}"}


def is_worker() -> bool:
    return VARIABLE in os.environ
