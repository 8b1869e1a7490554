"""What tests of servers and agents use: a client that records, scripted answers, a manual clock, snapshots.

The pytest plugin provides all of it as fixtures. The names below are public, and are loaded when first used:
the plugin is loaded in every project of an environment, also where no test uses it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer import Answers as Answers
    from .client import RecordingClient as RecordingClient
    from .clock import ManualClock as ManualClock
    from .recorder import Call as Call
    from .recorder import Question as Question
    from .recorder import Recorder as Recorder
    from .snapshot import Snapshot as Snapshot

_HOME_OF = {
    "Answers": "answer",
    "Call": "recorder",
    "ManualClock": "clock",
    "Question": "recorder",
    "Recorder": "recorder",
    "RecordingClient": "client",
    "Snapshot": "snapshot",
}

__all__ = [  # noqa: PLE0604 - computed from the table above
    *_HOME_OF
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
