"""What happened, from all sides: lines of JSON with the time of one clock."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""`t`, `kind`, and:

- of a client, `by` and `call`: `invoke` (`tool`), `event` (`number`), `question` (`value`), `reconnect`; `ok`
  and `error` (`value`; `from_server` if that answered); and without a call `marked` (`value`, `expected`),
  and `broke` if the client itself cannot go on
- of a handler, `pid` and `call`: `ran`, `sent` (`number`), `drew` (`value`)
- of the attack: `killed` (`pid`), `paused`, `resumed`, `restarted`; `down` and `up` of the server
"""


class Recorder:
    """The history of one client or of the attack."""

    def __init__(self, by: str) -> None:
        self.by = by
        self.entries: list[Entry] = []
        self._calls = 0

    @property
    def broke(self) -> bool:
        return any(entry["kind"] == "broke" for entry in self.entries)

    def next_call(self) -> str:
        self._calls += 1
        return f"{self.by}-{self._calls}"

    def note(self, kind: str, **more: Any) -> None:
        self.entries.append({"t": time.monotonic(), "kind": kind, "by": self.by, **more})


def read(path: Path) -> list[Entry]:
    """The entries of a file. A process that was killed leaves no half line: each is one write."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: float(entry["t"]))


def write(path: Path, entries: Iterable[Entry]) -> None:
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in in_order(entries)))


def of_call(entries: Iterable[Entry], call: str) -> list[Entry]:
    """Everything about one call, and each kill while it ran."""
    own = [entry for entry in entries if entry.get("call") == call]
    if not own:
        return []
    begin, end = own[0]["t"], own[-1]["t"]
    kills = [each for each in entries if each["kind"] == "killed" and begin <= each["t"] <= end]
    return in_order([*own, *kills])
