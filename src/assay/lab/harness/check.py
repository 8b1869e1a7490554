"""Checks: pure functions of a trace, in the topic modules of a suite.

    @check("A tool that does not exist is refused", requirements={"TL-19": "An unknown tool was not refused"})
    def judge_unknown_name(trace: Trace) -> Iterator[Observation]:
        for exchange in trace.exchanges("tools/call"):
            yield observe("TL-19", exchange.code == -32602, exchange, expected="…", observed=exchange)

A check yields an observation wherever the trace shows that a requirement holds or is broken. Without an
observation the result is SKIPPED, not SUCCESS. A check may read any trace and must never raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from assay.lab.harness.repeat.line import repeating_line
from assay.lab.harness.trace.evidence import excerpts
from assay.lab.harness.trace.trace import Trace

from .naming import id_of
from .reason import Reason, ReasonKind, stored
from .requirement import Requirement
from .transport import ANY, Transport
from .verdict import CheckResult, Finding, Observation, Verdict

Judge = Callable[[Trace], Iterable[Observation]]
UNOBSERVED = Reason(ReasonKind.NOT_OBSERVED, "not observed: this trace does not show whether the rule holds")
UNFINISHED = Reason(ReasonKind.BROKE_OFF, "not observed to the end: the scenario broke off")
MAX_EXPECTATIONS = 3
MAX_FINDINGS = 5
"""Findings per requirement and trace: a fault in every message is still one fault."""


class Check(Struct, frozen=True):
    id: str
    title: str
    requirements: Mapping[str, str]
    """The requirements that it may cite, each with the title of its findings."""
    judge: Judge
    everywhere: bool
    """Whether it reads every trace, or only those of scenarios that exercise it."""
    transports: frozenset[Transport]
    confirmed: bool = False
    """Whether a fault counts only if it happens again, because a slow machine may be its cause."""
    history: bool = False
    """Whether what came before the cited frames may be the cause: only the scenario repeats its findings."""
    by_requirement: bool = False
    """Whether it has one result per requirement, with the requirement's id, as in the official suite."""
    fix: str = ""
    """What to change, for requirements that do not say it."""

    def applies(self, trace: Trace, requirements: Mapping[str, Requirement]) -> bool:
        in_force = any(requirements[name].level(trace.revision) for name in self.requirements)
        return in_force and Transport(trace.transport) in self.transports

    @property
    def results(self) -> tuple[str, ...]:
        """The ids of its results."""
        return tuple(self.requirements) if self.by_requirement else (self.id,)


def check(
    title: str,
    *,
    requirements: Mapping[str, str] | tuple[str, ...],
    everywhere: bool = False,
    transports: frozenset[Transport] = ANY,
    confirmed: bool = False,
    history: bool = False,
    id: str = "",
) -> Callable[[Judge], Check]:
    """Turn a function `judge_<name>` into a check, or any function into the check with that id.

    `title` states the rule; `requirements` maps each requirement that the check may cite to the fault, which
    is the title of its findings.
    """

    def decorate(judge: Judge) -> Check:
        name = id or id_of(judge, "judge_")
        cited = faults(requirements)
        return Check(name, title, cited, judge, everywhere, transports, confirmed=confirmed, history=history)

    return decorate


def faults(requirements: Mapping[str, str] | tuple[str, ...]) -> Mapping[str, str]:
    return requirements if isinstance(requirements, Mapping) else dict.fromkeys(requirements, "")


class CheckFailed(Exception):
    """A check raised, or cited a requirement that it does not declare: a defect of the lab."""

    def __init__(self, check: str, problem: str) -> None:
        super().__init__(check, problem)
        self.check = check
        self.problem = problem

    def __str__(self) -> str:
        return f"check {self.check}: {self.problem}"


Breaches = dict[str, set[int]]
"""The frames that show a requirement broken, by requirement."""


def run_check(
    check: Check, trace: Trace, requirements: Mapping[str, Requirement], breaches: Breaches | None = None
) -> list[CheckResult]:
    """Judge a trace: one result, or one per requirement for checks that report by requirement. All breaches
    are added to `breaches`, since a result lists only some.

    Raises:
        CheckFailed: the check has a defect.
    """
    cited = {name: requirements[name] for name in check.requirements}
    in_force = {name: rule for name, rule in cited.items() if rule.level(trace.revision)}
    observations = [each for each in _observations(check, trace) if each.requirement in in_force]
    for observation in observations:
        if breaches is not None and not observation.holds:
            breaches.setdefault(observation.requirement, set()).update(observation.frames)
    if not check.by_requirement:
        return [_result(check.id, check.title, check, in_force, observations, trace)]
    return [
        _result(name, rule.statement, check, {name: rule}, _about(name, observations), trace)
        for name, rule in in_force.items()
    ]


def _about(requirement: str, observations: list[Observation]) -> list[Observation]:
    return [observation for observation in observations if observation.requirement == requirement]


def _result(
    name: str,
    title: str,
    check: Check,
    requirements: Mapping[str, Requirement],
    observations: list[Observation],
    trace: Trace,
) -> CheckResult:
    verdict = _verdict(observations, requirements, trace)
    reason = UNOBSERVED if verdict is Verdict.SKIPPED else None
    if verdict is Verdict.SUCCESS and not trace.header.closed:
        verdict, reason = Verdict.SKIPPED, UNFINISHED
    broken = [observation for observation in observations if not observation.holds]
    return CheckResult(
        id=name,
        title=title,
        verdict=verdict,
        requirements={name: rule.link(trace.revision) for name, rule in requirements.items()},
        observations=len(observations),
        findings=[
            _finding(observation, check, requirements[observation.requirement], trace)
            for observation in _first(broken)
        ],
        **stored(reason),
        held=dict(Counter(observation.requirement for observation in observations if observation.holds)),
        expected=[] if broken else _expectations(observations),
        at=_decided(broken[:1] or observations[-1:], trace),
    )


def _expectations(observations: list[Observation]) -> list[str]:
    return list(dict.fromkeys(observation.expected for observation in observations))[:MAX_EXPECTATIONS]


def _decided(observations: list[Observation], trace: Trace) -> float:
    """When the last frame of the first fault was recorded, or without one, of the last observation."""
    last = max((n for observation in observations for n in observation.frames), default=0)
    return trace.frames[last].t if last < len(trace.frames) else 0.0


def first_breaches(check: Check, trace: Trace, requirement: str) -> list[Observation]:
    """The observations that findings about a requirement describe."""
    broken = [each for each in _observations(check, trace) if not each.holds]
    return _about(requirement, _first(broken))


def _first(broken: list[Observation]) -> list[Observation]:
    """The first of each requirement; those that observe something new come before repetitions."""
    by_requirement: dict[str, dict[str, list[Observation]]] = {}
    for observation in broken:
        group = by_requirement.setdefault(observation.requirement, {})
        group.setdefault(observation.observed, []).append(observation)
    return [each for group in by_requirement.values() for each in _varied(group)]


def _varied(group: Mapping[str, list[Observation]]) -> list[Observation]:
    new = [same[0] for same in group.values()]
    again = [observation for same in group.values() for observation in same[1:]]
    return sorted([*new, *again][:MAX_FINDINGS], key=lambda observation: observation.frames)


def _observations(check: Check, trace: Trace) -> list[Observation]:
    try:
        observations = list(check.judge(trace))
    except Exception as error:
        raise CheckFailed(check.id, f"{type(error).__name__}: {error}") from error
    for observation in observations:
        if observation.requirement not in check.requirements:
            raise CheckFailed(check.id, f"cites {observation.requirement}, which it does not declare")
    return observations


# The most serious first.
_VERDICTS = (Verdict.FAILURE, Verdict.WARNING, Verdict.SUCCESS)


def _verdict(
    observations: list[Observation], requirements: Mapping[str, Requirement], trace: Trace
) -> Verdict:
    verdicts = {
        _verdict_of(observation, requirements[observation.requirement], trace) for observation in observations
    }
    return next((verdict for verdict in _VERDICTS if verdict in verdicts), Verdict.SKIPPED)


def _verdict_of(observation: Observation, requirement: Requirement, trace: Trace) -> Verdict:
    if observation.holds:
        return Verdict.SUCCESS
    level = requirement.level(trace.revision)
    return Verdict.FAILURE if level is not None and level.binding else Verdict.WARNING


def _finding(observation: Observation, check: Check, requirement: Requirement, trace: Trace) -> Finding:
    level = requirement.level(trace.revision)
    assert level is not None
    return Finding(
        requirement=requirement.id,
        level=level.value,
        statement=requirement.statement,
        link=requirement.link(trace.revision),
        expected=observation.expected,
        observed=observation.observed,
        frames=list(observation.frames),
        excerpt=excerpts(trace, observation.frames),
        reproduce=repeating_line(trace, observation, check.judge, history=check.history),
        title=check.requirements[requirement.id] or requirement.fault or check.title,
        fix=requirement.fix or check.fix,
    )
