"""Judging the trace of a case: the oracles, and the checks of the suite that apply to every trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Check, run_check
from assay.lab.harness.requirement import Requirement
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import is_sound
from assay.lab.harness.verdict import CheckResult, Verdict
from assay.revisions.revision import Revision

from .ambiguity import is_clear, is_declared
from .oracle import FIRST, LATER, ORACLES
from .rules import own_rules

OUTPUT_ONLY: Final = frozenset(
    {
        "framing.pure-stdout",
        "framing.whole-lines",
        "jsonrpc.error-shape",
        "jsonrpc.one-outcome",
        "jsonrpc.utf8",
        "jsonrpc.version",
        "streams.socket-messages",
    }
)
"""Checks that only look at messages of the server, and apply even if those of the driver are ambiguous."""
SOUND_REQUESTS_ONLY: Final = frozenset({"jsonrpc.named-errors"})
"""Checks that handle some invalid messages of the driver, but not all that are generated here."""
NOT_AFTER_ARRAYS: Final = frozenset({"jsonrpc.version"})
"""Checks that do not apply if the driver sent an array: the specification leaves the answer to one open."""
NEVER: Final = frozenset(
    {
        "jsonrpc.error-text",
        "lifecycle.early-request",
        "lifecycle.first-interaction",
        "lifecycle.ping",
        "robustness.every-answer",
        "robustness.keeps-running",
    }
)
"""Checks of style, checks that assume every request of some kind to be valid, and those that the fuzzer has
itself."""
SURROGATES: Final = (b"\\ud", b"\xed")
"""The first bytes of lone surrogates. A server that echoes one sends text that the lab's parser rejects."""
BAD: Final = (Verdict.FAILURE, Verdict.WARNING)


class BrokenRule(Struct, frozen=True):
    """A broken requirement and the check that reported it, by which findings are distinguished."""

    check: str
    requirement: str
    level: str


class TraceJudge:
    def __init__(self, suite: Suite) -> None:
        everywhere = [check for check in suite.checks.values() if check.everywhere and check.id not in NEVER]
        self._checks = (*FIRST, *everywhere, *LATER)
        self._requirements: Mapping[str, Requirement] = {**suite.requirements, **own_rules()}

    @property
    def titles(self) -> dict[str, str]:
        return {check.id: check.title for check in self._checks}

    def verdict(self, trace: Trace, observations: Counter[str] | None = None) -> BrokenRule | None:
        """The first broken rule, a binding one before others; counts the observations of each check."""
        broken = [*self._broken(trace, Counter() if observations is None else observations)]
        binding = [rule for rule in broken if self._is_binding(rule, trace.revision)]
        return next(iter(binding or broken), None)

    def _is_binding(self, rule: BrokenRule, revision: Revision) -> bool:
        return self._requirements[rule.requirement].levels[revision.date].binding

    def results(self, trace: Trace, broken: BrokenRule) -> list[CheckResult]:
        """The full results of the check that reported the rule."""
        check = next(check for check in self._checks if check.id == broken.check)
        return [result for result in run_check(check, trace, self._requirements) if result.verdict in BAD]

    def passed(self, observations: Counter[str], revision: Revision) -> list[CheckResult]:
        """Results of the checks with observations, for a target without findings."""
        return [
            CheckResult(
                id=check.id,
                title=check.title,
                verdict=Verdict.SUCCESS,
                requirements=self._links(check, revision),
                observations=observations[check.id],
            )
            for check in self._checks
            if observations[check.id]
        ]

    def _links(self, check: Check, revision: Revision) -> dict[str, str]:
        """The requirements of a check that apply at the revision, with their links."""
        requirements = {name: self._requirements[name] for name in check.requirements}
        return {
            name: requirement.link(revision)
            for name, requirement in requirements.items()
            if requirement.level(revision)
        }

    def _broken(self, trace: Trace, observations: Counter[str]) -> Iterator[BrokenRule]:
        for check in self._applying(trace):
            for observation in check.judge(trace):
                level = self._requirements[observation.requirement].level(trace.revision)
                observations[check.id] += level is not None
                if level is not None and not observation.holds:
                    yield BrokenRule(check.id, observation.requirement, level.value)

    def _applying(self, trace: Trace) -> list[Check]:
        sent = [message for message in trace.messages if not message.by_subject]
        clear = is_clear(trace) and is_declared(trace)
        if not clear and any(_has_surrogate(message.body) for message in sent):
            return [oracle for oracle in ORACLES if oracle.applies(trace, self._requirements)]
        batched = any(message.body.lstrip()[:1] == b"[" for message in sent)
        sound = clear and all(map(is_sound, sent))
        return [
            check
            for check in self._checks
            if (clear or check.id in OUTPUT_ONLY or check in ORACLES)
            and (sound or check.id not in SOUND_REQUESTS_ONLY)
            and not (check.id in NOT_AFTER_ARRAYS and batched)
            and check.applies(trace, self._requirements)
        ]


def _has_surrogate(body: bytes) -> bool:
    return any(start in body for start in SURROGATES)
