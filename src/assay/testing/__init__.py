"""What tests of servers and agents use: a client that records, scripted answers, a manual clock, snapshots.

The pytest plugin provides all of it as fixtures. The names below are public, and are loaded when first used:
the plugin is loaded in every project of an environment, also where no test uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from .answer import Answers as Answers
    from .client import RecordingClient as RecordingClient
    from .clock import ManualClock as ManualClock
    from .recorder import Call as Call
    from .recorder import Question as Question
    from .recorder import Recorder as Recorder
    from .snapshot import Snapshot as Snapshot

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".answer": "Answers",
        ".client": "RecordingClient",
        ".clock": "ManualClock",
        ".recorder": "Call Question Recorder",
        ".snapshot": "Snapshot",
    },
)
