"""Whether a process has a terminal: SIGHUP means that it was closed, or else to load the program anew."""

from __future__ import annotations

import os


def has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
