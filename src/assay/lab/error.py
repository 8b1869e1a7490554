"""What the lab raises when it cannot do what was asked.

LabError
├── InvalidOptions      the options contradict each other, name something unknown, or select nothing
├── SubjectNotStarted   the server or client is not there, or did not start
├── CannotJudge         the subject cannot be judged: it is silent, or no token could be obtained
├── CannotStore         results cannot be written
└── Interrupted         the run was stopped before anything was known
"""

from __future__ import annotations

from assay.model.error import AssayError


class LabError(AssayError):
    """`problem` says what is wrong, `fix` what to do about it. The text has one line for each."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.fix}" if self.fix else self.problem


class InvalidOptions(LabError, ValueError):
    pass


class SubjectNotStarted(LabError):
    pass


class CannotJudge(LabError):
    pass


class CannotStore(LabError):
    pass


class Interrupted(LabError):
    pass
