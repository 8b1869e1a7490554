"""Try every escape, and print the outcomes: `python -I -m assay.sandbox.canary BAIT [ID …]`.

Each attempt runs in a process of its own, because some end it or change it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Final

from .catalogue import ESCAPES
from .escape import Bait, Blocked, Escape, NotPossible, Outcome

PATIENCE: Final = 20
"""Seconds after which an attempt ends; what hangs has not succeeded."""


def main(arguments: list[str]) -> None:
    bait = Bait(**json.loads(arguments[0]))
    selected = set(arguments[1:])
    chosen = [item for item in ESCAPES if not selected or item.id in selected]
    sys.stdout.write(json.dumps([attempt(item, bait) for item in chosen]))


def attempt(item: Escape, bait: Bait) -> dict[str, str]:
    """
    Raises:
        RuntimeError: the attempt is faulty. It must not count as blocked.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        os.close(source)
        try:
            outcome, how = _try(item, bait)
            os.write(sink, json.dumps({"id": item.id, "outcome": outcome, "how": how}).encode())
        finally:
            os._exit(1)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if data:
        result: dict[str, str] = json.loads(data)
        return result
    if not os.WIFSIGNALED(status):
        raise RuntimeError(f"the attempt {item.id} ended without an outcome")
    cause = signal.Signals(os.WTERMSIG(status)).name
    return {"id": item.id, "outcome": Outcome.BLOCKED, "how": f"the process was ended by {cause}"}


def _try(item: Escape, bait: Bait) -> tuple[Outcome, str]:
    try:
        return Outcome.SUCCEEDED, item.attempt(bait)
    except NotPossible as reason:
        return Outcome.NOT_POSSIBLE, str(reason)
    except Blocked as reason:
        return Outcome.BLOCKED, str(reason)
    except (OSError, ValueError) as error:
        return Outcome.BLOCKED, str(getattr(error, "strerror", None) or error)


if __name__ == "__main__":
    main(sys.argv[1:])
