"""Why a finding is true: one sentence each, written by whoever has read the clause and the server's source.

A finding without a sentence, and a sentence without a finding, fail the run: nobody has looked at the one,
and the other is about something that is no longer so.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from interop.public.record import Judged, Key
from interop.public.table import HERE


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    check: str
    requirement: str
    servers: list[str]
    why: str

    @property
    def key(self) -> Key:
        return self.check, self.requirement


class Reasons:
    def __init__(self, reasons: Iterable[Reason]) -> None:
        self._why = {(server, reason.key): reason.why for reason in reasons for server in reason.servers}

    def why(self, server: str, key: Key) -> str | None:
        return self._why.get((server, key))

    def breaches(self, judged: Iterable[Judged]) -> Iterator[str]:
        """What does not fit between findings and sentences, for the servers that were judged."""
        servers = list(judged)
        found = {(one.server, finding.key) for one in servers for finding in one.found}
        about = {place for place in self._why if place[0] in {one.server for one in servers}}
        for server, (check, row) in sorted(found - about):
            yield f"{server}: nobody has written why {check} ({row}) is true"
        for server, (check, row) in sorted(about - found):
            yield f"{server}: {check} ({row}) is explained, and was not found"


def read_reasons(path: Path = HERE / "reasons.toml") -> Reasons:
    rows = tomllib.loads(path.read_text("utf-8")).get("reason", [])
    return Reasons(msgspec.convert(rows, list[Reason]))
