"""Checks: pure functions of a trace, in the topic modules of a suite.

    @check("A tool that does not exist is refused", requirements={"TL-19": "An unknown tool was not refused"})
    def judge_unknown_name(trace: Trace) -> Iterator[Observation]:
        for exchange in trace.exchanges("tools/call"):
            yield observe("TL-19", exchange.code == -32602, exchange, expected="…", observed=exchange)

A check yields an observation wherever its requirement could be seen to hold or to be broken. No observation
is no success. It may look at any trace and must never raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Flag, auto
from functools import reduce
from operator import or_

from msgspec import Struct

from assay.lab.harness.trace.excerpt import excerpts
from assay.lab.harness.trace.reproduction import reproduction
from assay.lab.harness.trace.trace import Trace

from .naming import id_of
from .reason import Reason, ReasonKind, stored
from .requirement import Level, Requirement
from .transport import ANY, Transport
from .verdict import CheckResult, Finding, Observation, Verdict

Judge = Callable[[Trace], Iterable[Observation]]
UNOBSERVED = Reason(ReasonKind.NOT_OBSERVED, "not observed: nothing in this trace shows whether it holds")
UNFINISHED = Reason(ReasonKind.BROKE_OFF, "not observed to the end: the scenario broke off")
MAX_FINDINGS = 5
"""Findings on one row and trace that are kept: a fault in every message is still one fault."""


class Check(Struct, frozen=True):
    id: str
    title: str
    requirements: Mapping[str, str]
    """What it may cite: each requirement with the title of a finding that shows it broken."""
    judge: Judge
    everywhere: bool
    """Whether it reads every trace; otherwise only those of the scenarios that exercise it."""
    transports: frozenset[Transport]
    by_requirement: bool = False
    """Whether each of its rows is a check of its own, under the row's id: those of the official suite are."""

    def applies(self, trace: Trace, requirements: Mapping[str, Requirement]) -> bool:
        on = Transport(trace.transport) in self.transports
        return on and any(requirements[row].level(trace.revision) for row in self.requirements)

    @property
    def results(self) -> tuple[str, ...]:
        """The ids that its results go by."""
        return tuple(self.requirements) if self.by_requirement else (self.id,)


def check(
    title: str,
    *,
    requirements: Mapping[str, str] | tuple[str, ...],
    everywhere: bool = False,
    transports: frozenset[Transport] = ANY,
) -> Callable[[Judge], Check]:
    """Turn a function `judge_<name>` into a check.

    `title` states the rule; `requirements` maps every requirement that it may cite to the fault, the title of
    a finding that shows it broken.
    """

    def made(judge: Judge) -> Check:
        return Check(id_of(judge, "judge_"), title, faults(requirements), judge, everywhere, transports)

    return made


def faults(requirements: Mapping[str, str] | tuple[str, ...]) -> Mapping[str, str]:
    return requirements if isinstance(requirements, Mapping) else dict.fromkeys(requirements, "")


class CheckFailed(Exception):
    """A check raised, or cited a row that it does not declare: a fault of the lab, never of the subject."""

    def __init__(self, check: str, problem: str) -> None:
        super().__init__(check, problem)
        self.check = check
        self.problem = problem

    def __str__(self) -> str:
        return f"check {self.check}: {self.problem}"


def run_check(one: Check, trace: Trace, requirements: Mapping[str, Requirement]) -> list[CheckResult]:
    """Judge a trace: one result, or one for each row that is a check of its own.

    Raises:
        CheckFailed: the check is broken.
    """
    in_force = {row: level for row in one.requirements if (level := requirements[row].level(trace.revision))}
    seen = [observation for observation in _observations(one, trace) if observation.requirement in in_force]
    if not one.by_requirement:
        return [_result(one.id, one.title, in_force, seen, trace, requirements)]
    return [
        _result(row, requirements[row].statement, {row: level}, _on(row, seen), trace, requirements)
        for row, level in in_force.items()
    ]


def _on(row: str, seen: list[Observation]) -> list[Observation]:
    return [observation for observation in seen if observation.requirement == row]


def _result(
    name: str,
    title: str,
    in_force: Mapping[str, Level],
    seen: list[Observation],
    trace: Trace,
    requirements: Mapping[str, Requirement],
) -> CheckResult:
    broken = [observation for observation in seen if not observation.holds]
    verdict = _verdict(seen, in_force)
    reason = UNOBSERVED if verdict is Verdict.SKIPPED else None
    if verdict is Verdict.SUCCESS and not trace.header.closed:
        verdict, reason = Verdict.SKIPPED, UNFINISHED
    return CheckResult(
        id=name,
        title=title,
        verdict=verdict,
        requirements={row: requirements[row].link(trace.revision) for row in in_force},
        observations=len(seen),
        findings=[_finding(found, requirements[found.requirement], trace) for found in _first(broken)],
        **stored(reason),
    )


def _first(broken: list[Observation]) -> list[Observation]:
    by_requirement: dict[str, list[Observation]] = {}
    for one in broken:
        by_requirement.setdefault(one.requirement, []).append(one)
    return [one for found in by_requirement.values() for one in found[:MAX_FINDINGS]]


def _observations(one: Check, trace: Trace) -> list[Observation]:
    try:
        seen = list(one.judge(trace))
    except Exception as error:
        raise CheckFailed(one.id, f"{type(error).__name__}: {error}") from error
    for observation in seen:
        if observation.requirement not in one.requirements:
            raise CheckFailed(one.id, f"cites {observation.requirement}, which it does not declare")
    return seen


class _Seen(Flag):
    NOTHING = 0
    HELD = auto()
    WEAKLY_BROKEN = auto()
    BROKEN = auto()


# The first that was seen decides.
_DECISIVE = (
    (_Seen.BROKEN, Verdict.FAILURE),
    (_Seen.WEAKLY_BROKEN, Verdict.WARNING),
    (_Seen.HELD, Verdict.SUCCESS),
)


def _verdict(seen: list[Observation], levels: Mapping[str, Level]) -> Verdict:
    kinds = reduce(or_, (_kind(one, levels[one.requirement]) for one in seen), _Seen.NOTHING)
    return next((verdict for kind, verdict in _DECISIVE if kind & kinds), Verdict.SKIPPED)


def _kind(observation: Observation, level: Level) -> _Seen:
    if observation.holds:
        return _Seen.HELD
    return _Seen.BROKEN if level.binding else _Seen.WEAKLY_BROKEN


def _finding(observation: Observation, row: Requirement, trace: Trace) -> Finding:
    level = row.level(trace.revision)
    assert level is not None
    return Finding(
        requirement=row.id,
        level=level.value,
        statement=row.statement,
        link=row.link(trace.revision),
        expected=observation.expected,
        observed=observation.observed,
        frames=list(observation.frames),
        excerpt=excerpts(trace, observation.frames),
        reproduce=reproduction(trace, observation.frames),
    )
