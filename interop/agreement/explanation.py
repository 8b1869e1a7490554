"""Why the suites differ: one paragraph each, written by whoever has read the frames and the clause.

A difference that nobody explained, and an explanation of something that is no longer so, fail the run.
"""

import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from interop.agreement.record import Judged, Pair


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    subjects: list[str]
    scenarios: list[str]
    """Names, or globs such as `tasks-*`."""
    official: str
    ours: str
    why: str
    revisions: list[str] = []
    """Where; everywhere if none is named."""

    def covers(self, subject: str, pair: Pair) -> bool:
        return (
            subject in self.subjects
            and any(fnmatchcase(pair.scenario, glob) for glob in self.scenarios)
            and (self.official, self.ours) == (pair.official.verdict, pair.ours.verdict)
            and (not self.revisions or pair.revision in self.revisions)
        )

    def parts(self) -> Iterator["Explanation"]:
        """One for each subject, scenario and revision that it names: each must be needed."""
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
        return next((one for one in self.all if one.covers(subject, pair)), None)

    def breaches(self, judged: Iterable[Judged]) -> Iterator[str]:
        """What does not fit between differences and explanations, for the subjects that were judged."""
        subjects = {one.subject: list(one.differences) for one in judged}
        for subject, differences in subjects.items():
            for pair in differences:
                if self.of(subject, pair) is None:
                    yield f"{subject}: nobody has explained {told(pair)}"
        for part in (part for one in self.all for part in one.parts()):
            (subject,) = part.subjects
            if subject in subjects and not any(part.covers(subject, pair) for pair in subjects[subject]):
                where = " ".join((part.scenarios[0], *part.revisions))
                yield f"{subject}: {part.id} explains {where}, where it is not so"


def told(pair: Pair) -> str:
    words = f"{pair.scenario} {pair.revision}: official {pair.official.verdict}, ours {pair.ours.verdict}"
    because = [*pair.official.because, *pair.ours.because]
    return f"{words} ({'; '.join(because)})" if because else words


def read_explanations(path: Path) -> Explanations:
    rows = tomllib.loads(path.read_text("utf-8")).get("difference", [])
    return Explanations(msgspec.convert(rows, list[Explanation]))
