"""Whether a run leaves nothing out, and claims nothing of the server that its own traces refute.

Which scenarios were played, and on which revisions, is the developer's choice, and the summary shows it. But
what was played is there wherever it makes sense, what was not had a reason that the facts bear out, and all
traces are of one server.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.certify.bundle.layout import REGISTRY_ENTRY, RUN
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.need import unmet
from assay.lab.harness.run.plan import EFFECTS, makes_sense
from assay.lab.harness.run.run import CellResult, Place, Run
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.discovery import DISCOVERY, LISTS
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

from .refusal import Reason, Refusal, refused

TRANSPORTS: Final = frozenset(Transport)


class Shown(Struct, frozen=True):
    """What a trace shows of the server."""

    trace: str
    spoken: tuple[str, str]
    """Transport and revision."""
    facts: Facts


class Account:
    """Of a run: what it must hold, by what it says itself of the server."""

    def __init__(self, run: Run, suite: Suite, *, closely: bool = True) -> None:
        """
        Raises:
            Refused: it says no such thing.
        """
        self._run, self._suite, self._closely = run, suite, closely
        self._names = {record.transport: record.name for record in run.subjects}
        self._known = _known(run)
        self._shown: list[Shown] = []

    def gaps(self) -> Iterator[Refusal]:
        """Where something was not played, or was where it cannot be."""
        found = Counter(cell.place for cell in self._run.cells)
        expected = self._expected({place[0] for place in found})
        for place in sorted(expected - found.keys()):
            yield _wrong(f"{' '.join(place)} is not in it, and the scenario was played elsewhere")
        for place, times in found.items():
            if times > 1:
                yield _wrong(f"{' '.join(place)} is in it {times} times")
            if place not in expected and not self._is_meeting(place):
                yield _wrong(f"{' '.join(place)}: no scenario of the suite, or not on what the server speaks")

    def _expected(self, names: set[str]) -> set[Place]:
        return {
            (name, *spoken)
            for name in names & self._suite.scenarios.keys()
            for spoken in self._known
            if makes_sense(self._suite, self._suite.scenarios[name], Transport(spoken[0]), BY_DATE[spoken[1]])
        }

    def _is_meeting(self, place: Place) -> bool:
        return place[0] == DISCOVERY and place[1] in self._names and place[2] in BY_DATE

    def hear(self, name: str, trace: Trace, entry: bytes | None) -> Iterator[Refusal]:
        """Whether a trace is of the server, and beside the registry entry, that the bundle is about."""
        header = trace.header
        if header.subject != self._names.get(header.transport):
            yield _wrong(f"a trace of another subject, {header.subject!r}", name)
        expected = None if entry is None else json.loads(entry)
        if any(mark.info.get("entry") != expected for mark in trace.marks(REGISTRY)):
            yield _wrong(f"judged by another entry of a registry than {REGISTRY_ENTRY}", name)
        spoken = header.transport, header.revision
        facts = self._known.get(spoken)
        if facts is None:
            return
        for opening in _openings(trace):
            if opening.server != facts.server:
                yield _wrong(f"a trace of another server, {opening.server}, not {facts.server}", name)
            self._shown.append(Shown(name, spoken, opening))
        self._shown.append(Shown(name, spoken, _listed(trace, facts)))

    def excuses(self) -> Iterator[Refusal]:
        """What is said not to apply, and does; to be asked when all traces were heard."""
        for cell in self._run.cells:
            scenario = self._suite.scenarios.get(cell.scenario)
            if scenario is not None and cell.outcome is Outcome.NOT_APPLICABLE:
                yield from self._excuse(cell, scenario, self._known[cell.transport, cell.revision])

    def _excuse(self, cell: CellResult, scenario: Scenario, facts: Facts) -> Iterator[Refusal]:
        reason = cell.typed_reason
        lacking = unmet(scenario.needs, facts)
        if self._closely:
            same = reason is not None and reason in (lacking, EFFECTS if scenario.effects else None)
        else:  # another version may have other words for what is lacking
            allowed = scenario.effects and cell.reason_options == [*EFFECTS.options]
            same = lacking is not None or allowed
        if not same:
            yield _wrong(f"{' '.join(cell.place)} is said not to apply ({cell.reason}), and applies")
        for one in self._shown:
            met = any(need.met(one.facts) and not need.met(facts) for need in scenario.needs)
            if met and one.spoken == cell.place[1:]:
                yield _wrong(
                    f"{' '.join(cell.place)} is said not to apply ({cell.reason}); this shows that it does",
                    one.trace,
                )
                return


def _known(run: Run) -> dict[tuple[str, str], Facts]:
    found: dict[tuple[str, str], Facts] = {}
    for record in run.subjects:
        for facts in record.facts:
            place = record.transport, facts.revision
            if place in found or record.transport not in TRANSPORTS or facts.revision not in BY_DATE:
                detail = f"it knows a server on {' '.join(place)}, which is told twice or is none"
                raise refused(Reason.WRONG_RUN, RUN, detail)
            found[place] = facts
    return found


def _openings(trace: Trace) -> Iterator[Facts]:
    """What the server said when it was met at the revision of the trace."""
    revision = BY_DATE[trace.header.revision]
    if revision.opening is Opening.HANDSHAKE:
        for one in trace.exchanges("initialize"):
            if one.result and one.result.get("protocolVersion") == revision.date:
                yield _facts(revision.date, one.result, one.result.get("serverInfo"))
        return
    for one in trace.exchanges("server/discover"):
        if one.result:
            meta = one.result.get("_meta")
            yield _facts(revision.date, one.result, meta.get(SERVER_KEY) if isinstance(meta, dict) else None)


def _facts(revision: str, result: dict[str, Any], server: Any) -> Facts:
    capabilities = result.get("capabilities")
    return Facts(
        revision,
        capabilities if isinstance(capabilities, dict) else {},
        server if isinstance(server, dict) else {},
    )


def _listed(trace: Trace, facts: Facts) -> Facts:
    """What the server listed, with the capabilities that it is said to have."""
    seen = Facts(facts.revision, facts.capabilities)
    for _, method, key, name in LISTS:
        items = [item for one in trace.exchanges(method) for item in one.objects(key)]
        setattr(seen, name, items)
    return seen


def _wrong(detail: str, where: str = RUN) -> Refusal:
    return Refusal(Reason.WRONG_RUN, where, detail)
