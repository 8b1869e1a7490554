"""Why a sandbox cannot be had."""

from __future__ import annotations

from assay.model.error import AssayError


class SandboxError(AssayError):
    """`problem` says what is missing, `fix` what to change."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.fix}"


class SandboxUnavailable(SandboxError):
    """The host does not allow the level that was asked for. The server was not started."""


class CannotInstall(SandboxError):
    """A package that the command names could not be installed before the network was closed."""
