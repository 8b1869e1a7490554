"""Whether a run is complete, and makes no claim about the server that its own traces refute.

The developer may choose scenarios and revisions, and the summary shows that choice. But a chosen scenario
must have results wherever it applies, the facts must support each reason for not running it, and all traces
must be of one server.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.certify.bundle.layout import REGISTRY_ENTRY, RUN
from assay.certify.conclusion import identities
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.need import unmet
from assay.lab.harness.run.plan import EFFECTS, is_defined
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

from .refusal import Refusal, RefusalReason, refuse

TRANSPORTS: Final = frozenset(Transport)


class TraceFacts(Struct, frozen=True):
    """What a trace shows about the server."""

    trace: str
    spoken: tuple[str, str]
    """Transport and revision."""
    facts: Facts


class RunAudit:
    """Checks a run against its own facts about the server, and against its traces."""

    def __init__(self, run: Run, suite: Suite, *, closely: bool = True) -> None:
        """
        Raises:
            BundleRefused: the facts about the server are contradictory.
        """
        self._run, self._suite, self._closely = run, suite, closely
        self._names = {record.transport: record.name for record in run.subjects}
        self._known = _known(run)
        self._observed: list[TraceFacts] = []

    def gaps(self) -> Iterator[Refusal]:
        """Results that are missing, duplicate or impossible."""
        if len(names := identities(self._run)) > 1:
            yield _wrong(f"several servers were judged: {', '.join(map(repr, names))}")
        counts = Counter(cell.place for cell in self._run.cells)
        expected = self._expected({place[0] for place in counts})
        for place in sorted(expected - counts.keys()):
            yield _wrong(f"{' '.join(place)} is missing, although the scenario ran elsewhere")
        for place, times in counts.items():
            if times > 1:
                yield _wrong(f"{' '.join(place)} occurs {times} times")
            if place not in expected and not self._is_discovery(place):
                yield _wrong(f"{' '.join(place)}: not a scenario of the suite, or not spoken by the server")

    def _expected(self, names: set[str]) -> set[Place]:
        return {
            (name, *spoken)
            for name in names & self._suite.scenarios.keys()
            for spoken in self._known
            if is_defined(self._suite, self._suite.scenarios[name], Transport(spoken[0]), BY_DATE[spoken[1]])
        }

    def _is_discovery(self, place: Place) -> bool:
        return place[0] == DISCOVERY and place[1] in self._names and place[2] in BY_DATE

    def add_trace(self, name: str, trace: Trace, entry: bytes | None) -> Iterator[Refusal]:
        """Check that a trace is of the run's server and registry entry, and keep what it shows."""
        header = trace.header
        if header.subject != self._names.get(header.transport):
            yield _wrong(f"a trace of another subject: {header.subject!r}", name)
        expected = None if entry is None else json.loads(entry)
        if any(mark.info.get("entry") != expected for mark in trace.marks(REGISTRY)):
            yield _wrong(f"judged with another registry entry than {REGISTRY_ENTRY}", name)
        spoken = header.transport, header.revision
        facts = self._known.get(spoken)
        if facts is None:
            return
        for opening in _openings(trace):
            if opening.server != facts.server:
                yield _wrong(f"a trace of another server: {opening.server}, not {facts.server}", name)
            self._observed.append(TraceFacts(name, spoken, opening))
        self._observed.append(TraceFacts(name, spoken, _listed(trace, facts)))

    def false_exemptions(self) -> Iterator[Refusal]:
        """Scenarios that the run wrongly calls not applicable; complete once all traces are added."""
        for cell in self._run.cells:
            scenario = self._suite.scenarios.get(cell.scenario)
            if scenario is not None and cell.outcome is Outcome.NOT_APPLICABLE:
                yield from self._check_exemption(cell, scenario, self._known[cell.transport, cell.revision])

    def _check_exemption(self, cell: CellResult, scenario: Scenario, facts: Facts) -> Iterator[Refusal]:
        reason = cell.typed_reason
        lacking = unmet(scenario.needs, facts)
        if self._closely:
            same = reason is not None and reason in (lacking, EFFECTS if scenario.effects else None)
        else:  # another version may word the reason differently
            allowed = scenario.effects and cell.reason_options == [*EFFECTS.options]
            same = lacking is not None or allowed
        if not same:
            yield _wrong(f"{' '.join(cell.place)} is called not applicable ({cell.reason}), but applies")
        for trace in self._observed:
            met = any(need.met(trace.facts) and not need.met(facts) for need in scenario.needs)
            if met and trace.spoken == cell.place[1:]:
                detail = (
                    f"{' '.join(cell.place)} is called not applicable ({cell.reason}); the trace refutes it"
                )
                yield _wrong(detail, trace.trace)
                return


def _known(run: Run) -> dict[tuple[str, str], Facts]:
    known: dict[tuple[str, str], Facts] = {}
    for record in run.subjects:
        for facts in record.facts:
            place = record.transport, facts.revision
            if place in known or record.transport not in TRANSPORTS or facts.revision not in BY_DATE:
                detail = (
                    f"the facts for {' '.join(place)} are duplicate or of an unknown transport or revision"
                )
                raise refuse(RefusalReason.WRONG_RUN, RUN, detail)
            known[place] = facts
    return known


def _openings(trace: Trace) -> Iterator[Facts]:
    """What the server declared when it was opened at the revision of the trace."""
    revision = BY_DATE[trace.header.revision]
    if revision.opening is Opening.HANDSHAKE:
        for exchange in trace.exchanges("initialize"):
            if exchange.result and exchange.result.get("protocolVersion") == revision.date:
                yield _facts(revision.date, exchange.result, exchange.result.get("serverInfo"))
        return
    for exchange in trace.exchanges("server/discover"):
        if exchange.result:
            meta = exchange.result.get("_meta")
            yield _facts(
                revision.date, exchange.result, meta.get(SERVER_KEY) if isinstance(meta, dict) else None
            )


def _facts(revision: str, result: dict[str, Any], server: Any) -> Facts:
    capabilities = result.get("capabilities")
    return Facts(
        revision,
        capabilities if isinstance(capabilities, dict) else {},
        server if isinstance(server, dict) else {},
    )


def _listed(trace: Trace, facts: Facts) -> Facts:
    """What the server listed in a trace, with the capabilities that the run states."""
    listed = Facts(facts.revision, facts.capabilities)
    for _, method, key, name in LISTS:
        items = [item for exchange in trace.exchanges(method) for item in exchange.objects(key)]
        setattr(listed, name, items)
    return listed


def _wrong(detail: str, where: str = RUN) -> Refusal:
    return Refusal(RefusalReason.WRONG_RUN, where, detail)
