"""What the parent of several workers is asked to do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MOST: Final = 64
"""Workers of one parent. A machine with more cores than that runs several services."""
STUCK: Final = 30.0
"""Seconds of silence after which a worker is killed, by default."""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True, kw_only=True)
class Plan:
    workers: int
    command: Sequence[str]
    """The command line of a worker: this process's."""
    setting: Mapping[str, Any] = field(default_factory=dict)
    """What each worker is sent once it has started, besides its sockets. Secrets belong here: a command line
    and an environment are visible to others."""
    stuck: float = STUCK
    say: Callable[[str], None] = _say


def check_count(value: object) -> int:
    """
    Raises:
        TypeError: it is no whole number.
        ValueError: it is out of range.
    """
    problem = f"workers must be a whole number from 1 to {MOST}: {value!r}"
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(problem)
    if not 1 <= value <= MOST:
        raise ValueError(problem)
    return value


def check_stuck(value: object) -> float:
    """
    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    problem = f"worker_timeout must be a number of seconds from 2 to 86400: {value!r}"
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(problem)
    if not 2 <= value <= 86_400:
        raise ValueError(problem)
    return float(value)
