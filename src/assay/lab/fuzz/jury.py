"""All that judges the trace of a case: the fuzzer's oracles, and checks of the suite that read any trace."""

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

from .certainty import is_clear, is_declared
from .oracles import FIRST, LATER, ORACLES
from .rules import own_rules

BY_THEMSELVES: Final = frozenset(
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
"""Checks that look at what the server sends and at nothing else: what was asked need not be understood."""
FOR_SOUND_ONES: Final = frozenset({"jsonrpc.named-errors"})
"""Checks that know of messages that are no requests, but not of all that are made up here."""
ABOUT_ARRAYS: Final = frozenset({"jsonrpc.version"})
"""Checks that are not asked where the driver sent an array: what comes back for one, an array or not, is open
where nothing was agreed on before."""
NOT_HERE: Final = frozenset(
    {"jsonrpc.error-text", "lifecycle.early-request", "lifecycle.first-interaction", "lifecycle.ping"}
)
"""Checks about taste, and checks that take every request of some kind for a good one."""
HALVES: Final = (b"\\ud", b"\xed")
"""How halves of surrogate pairs begin: whoever repeats one writes what the lab's own reader does not take."""
BAD: Final = (Verdict.FAILURE, Verdict.WARNING)


class Broken(Struct, frozen=True):
    """What a trace shows to be broken, as far as it tells two faults apart."""

    check: str
    row: str
    level: str


class Jury:
    def __init__(self, suite: Suite) -> None:
        everywhere = [one for one in suite.checks.values() if one.everywhere and one.id not in NOT_HERE]
        self._checks = (*FIRST, *everywhere, *LATER)
        self._rows: Mapping[str, Requirement] = {**suite.requirements, **own_rules()}

    @property
    def titles(self) -> dict[str, str]:
        return {one.id: one.title for one in self._checks}

    def verdict(self, trace: Trace, seen: Counter[str] | None = None) -> Broken | None:
        """The first thing that is broken, the severest first; `seen` counts what was looked at, by check."""
        found = [*self._broken(trace, Counter() if seen is None else seen)]
        binding = [one for one in found if self._rows[one.row].levels[trace.header.revision].binding]
        return next(iter(binding or found), None)

    def results(self, trace: Trace, broken: Broken) -> list[CheckResult]:
        """What the check says that found it, in full."""
        one = next(one for one in self._checks if one.id == broken.check)
        return [result for result in run_check(one, trace, self._rows) if result.verdict in BAD]

    def held(self, seen: Counter[str], revision: Revision) -> list[CheckResult]:
        """The checks that looked at something and found nothing."""
        return [
            CheckResult(
                id=one.id,
                title=one.title,
                verdict=Verdict.SUCCESS,
                requirements={row: self._rows[row].link(revision) for row in self._in_force(one, revision)},
                observations=seen[one.id],
            )
            for one in self._checks
            if seen[one.id]
        ]

    def _in_force(self, one: Check, revision: Revision) -> list[str]:
        return [row for row in one.requirements if self._rows[row].level(revision)]

    def _broken(self, trace: Trace, looked: Counter[str]) -> Iterator[Broken]:
        for one in self._applying(trace):
            for seen in one.judge(trace):
                level = self._rows[seen.requirement].level(trace.revision)
                looked[one.id] += level is not None
                if level is not None and not seen.holds:
                    yield Broken(one.id, seen.requirement, level.value)

    def _applying(self, trace: Trace) -> list[Check]:
        clear = is_clear(trace) and is_declared(trace)
        if not clear and any(_has_halves(one.body) for one in trace.messages if not one.by_subject):
            return [one for one in ORACLES if one.applies(trace, self._rows)]
        batched = any(one.body.lstrip()[:1] == b"[" for one in trace.messages if not one.by_subject)
        sound = clear and all(is_sound(one) for one in trace.messages if not one.by_subject)
        return [
            one
            for one in self._checks
            if (clear or one.id in BY_THEMSELVES or one in ORACLES)
            and (sound or one.id not in FOR_SOUND_ONES)
            and not (one.id in ABOUT_ARRAYS and batched)
            and one.applies(trace, self._rows)
        ]


def _has_halves(body: bytes) -> bool:
    return any(one in body for one in HALVES)
