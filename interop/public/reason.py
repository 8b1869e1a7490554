"""Why each finding is true, written after reading the clause and, if available, the server's source.

A finding without a reason and a reason without a finding both fail the run.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from interop.public.record import JudgedServer, Key
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

    def breaches(self, judged: Iterable[JudgedServer]) -> Iterator[str]:
        """Findings without a reason and reasons without a finding, for the judged servers."""
        servers = list(judged)
        findings = {(result.server, finding.key) for result in servers for finding in result.findings}
        explained = {place for place in self._why if place[0] in {result.server for result in servers}}
        for server, (check, requirement) in sorted(findings - explained):
            yield f"{server}: {check} ({requirement}) has no reason in reasons.toml"
        for server, (check, requirement) in sorted(explained - findings):
            yield f"{server}: the reason for {check} ({requirement}) has no finding"


def read_reasons(path: Path = HERE / "reasons.toml") -> Reasons:
    rows = tomllib.loads(path.read_text("utf-8")).get("reason", [])
    return Reasons(msgspec.convert(rows, list[Reason]))
