"""Demands that follow from the results of others and from the facts about the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from assay.lab.harness.run.run import Run
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Verdict

from .profile_list import MeasuredBy, Profile
from .scoring import Evidence, Measure, Score, score_by_evidence

PROTECTED: Final = "CONF-SEC-04.protected"
GUARDS: Final = {
    "CONF-SEC-04.no-token": "requests without a token are refused",
    "CONF-SEC-04.certificate": "clients without a trusted certificate are refused",
}
"""Either of them protects a server."""
OPEN: Final = "the server asked for neither a token nor a client certificate"
NOT_TRIED: Final = "a request without credentials was not tried; do not leave out the scenarios sec.*"


def judge_protection(scores: Mapping[str, Score], run: Run) -> Evidence:
    """Whether a server on HTTP asks who calls."""
    guards = [scores[name] for name in GUARDS if scores[name].measure is Measure.MEASURED]
    refusals = [GUARDS[guard.id] for guard in guards if guard.status is not Verdict.FAILURE]
    if refusals:
        return Evidence(Verdict.SUCCESS, " and ".join(refusals))
    if guards:
        return Evidence(Verdict.FAILURE, " and ".join(f"{guard.id} is not met" for guard in guards))
    known = [facts for record in run.subjects if record.transport == Transport.HTTP for facts in record.facts]
    if any(map(_is_open, known)):
        return Evidence(Verdict.FAILURE, OPEN)
    return Evidence(Verdict.SKIPPED, NOT_TRIED)


def _is_open(facts: Facts) -> bool:
    """Whether the judge showed nothing, or was served without the token that it has."""
    return not facts.certificates and not facts.protected


DERIVED: Final[Mapping[str, Callable[[Mapping[str, Score], Run], Evidence]]] = {PROTECTED: judge_protection}


def with_derived(scores: Sequence[Score], run: Run, profile: Profile) -> list[Score]:
    """The scores, with those that follow from others filled in."""
    by_id = {entry.id: entry for entry in scores}
    demands = {demand.id: demand for demand in profile.demands if demand.by is MeasuredBy.RESULTS}
    judged = {record.transport for record in run.subjects if record.facts}
    return [
        score_by_evidence(demands[entry.id], DERIVED[entry.id](by_id, run))
        if entry.id in demands
        and entry.measure is not Measure.NOT_APPLICABLE
        and demands[entry.id].is_within(judged)
        else entry
        for entry in scores
    ]
