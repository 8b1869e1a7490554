"""What keeps a file of an application from being read or changed."""

from __future__ import annotations

from assay.model.error import AssayError


class HostFileProblem(AssayError, ValueError):
    """The file is left as it was. `problem` says why, `fix` what to do."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.fix}" if self.fix else self.problem
