"""Why the suites differ: one paragraph each, written after reading the frames and the clause.

An unexplained difference and an explanation that no longer applies both fail the run.
"""

import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from interop.agreement.record import Pair, SubjectResult


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    subjects: list[str]
    scenarios: list[str]
    """Names, or globs such as `tasks-*`."""
    official: str
    ours: str
    why: str
    revisions: list[str] = []
    """Empty for all revisions."""

    def covers(self, subject: str, pair: Pair) -> bool:
        return (
            subject in self.subjects
            and any(fnmatchcase(pair.scenario, glob) for glob in self.scenarios)
            and (self.official, self.ours) == (pair.official.verdict, pair.ours.verdict)
            and (not self.revisions or pair.revision in self.revisions)
        )

    def parts(self) -> Iterator["Explanation"]:
        """One explanation for each subject, scenario and revision: each of them must be needed."""
        for subject in self.subjects:
            for scenario in self.scenarios:
                for revisions in [[revision] for revision in self.revisions] or [[]]:
                    yield msgspec.structs.replace(
                        self, subjects=[subject], scenarios=[scenario], revisions=revisions
                    )


class Explanations:
    def __init__(self, explanations: Iterable[Explanation]) -> None:
        self.all = list(explanations)

    def of(self, subject: str, pair: Pair) -> Explanation | None:
        return next((explanation for explanation in self.all if explanation.covers(subject, pair)), None)

    def breaches(self, judged: Iterable[SubjectResult]) -> Iterator[str]:
        """Unexplained differences and stale explanations of the judged subjects."""
        subjects = {result.subject: list(result.differences) for result in judged}
        for subject, differences in subjects.items():
            for pair in differences:
                if self.of(subject, pair) is None:
                    yield f"{subject}: unexplained difference: {described(pair)}"
        for part in (part for explanation in self.all for part in explanation.parts()):
            (subject,) = part.subjects
            if subject in subjects and not any(part.covers(subject, pair) for pair in subjects[subject]):
                where = " ".join((part.scenarios[0], *part.revisions))
                yield f"{subject}: {part.id} explains {where}, which does not differ that way"


def described(pair: Pair) -> str:
    words = f"{pair.scenario} {pair.revision}: official {pair.official.verdict}, ours {pair.ours.verdict}"
    because = [*pair.official.because, *pair.ours.because]
    return f"{words} ({'; '.join(because)})" if because else words


def read_explanations(path: Path) -> Explanations:
    rows = tomllib.loads(path.read_text("utf-8")).get("difference", [])
    return Explanations(msgspec.convert(rows, list[Explanation]))
