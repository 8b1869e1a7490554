"""Exit codes, the same for every command: from conclusions and errors of the library to a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from assay.lab.error import CannotJudge, CannotStore, Interrupted, InvalidOptions, SubjectNotStarted
from assay.model.client_error import ClientError, ServerError, ToolFailed
from assay.model.error import (
    AssayError,
    CannotStartWorkers,
    InvalidTarget,
    LifespanFailed,
    MissingExtra,
    StoreError,
)
from assay.sandbox.error import SandboxError


class ExitCode(IntEnum):
    OK = 0
    """Done; for a command that judges: the subject conforms."""
    DOES_NOT_CONFORM = 1
    """Also: a tool failed, or the server refused the request."""
    USAGE = 2
    """The command line is wrong, or selects nothing."""
    INCOMPLETE = 3
    """Nothing was proved, or the run could not be completed."""
    NOT_STARTED = 4
    """The subject, or the server to serve, did not start."""
    OUR_FAULT = 70
    INTERRUPTED = 130


ERRORS: Final[Mapping[type[AssayError], ExitCode]] = MappingProxyType(
    {
        InvalidOptions: ExitCode.USAGE,
        InvalidTarget: ExitCode.USAGE,
        MissingExtra: ExitCode.USAGE,
        CannotStartWorkers: ExitCode.NOT_STARTED,
        LifespanFailed: ExitCode.NOT_STARTED,
        StoreError: ExitCode.NOT_STARTED,
        SubjectNotStarted: ExitCode.NOT_STARTED,
        CannotJudge: ExitCode.INCOMPLETE,
        CannotStore: ExitCode.INCOMPLETE,
        SandboxError: ExitCode.INCOMPLETE,
        Interrupted: ExitCode.INTERRUPTED,
        ToolFailed: ExitCode.DOES_NOT_CONFORM,
        ServerError: ExitCode.DOES_NOT_CONFORM,
        ClientError: ExitCode.INCOMPLETE,
    }
)
CONCLUSIONS: Final[Mapping[str, ExitCode]] = MappingProxyType(
    {
        "conforms": ExitCode.OK,
        "does not conform": ExitCode.DOES_NOT_CONFORM,
        "incomplete": ExitCode.INCOMPLETE,
        "interrupted": ExitCode.INTERRUPTED,
        "met": ExitCode.OK,
        "not met": ExitCode.DOES_NOT_CONFORM,
        "too little measured": ExitCode.INCOMPLETE,
    }
)
"""What a run, or a certification, comes to."""


class CommandFailed(Exception):
    """Ends the command with a line that says what is wrong, and one that says what to do."""

    def __init__(
        self, code: ExitCode, problem: str, fix: str | None = None, details: Sequence[str] = ()
    ) -> None:
        """`details` are lines between the two, such as the last words of a process."""
        super().__init__(code, problem, fix)
        self.code = code
        self.problem = problem
        self.fix = fix
        self.details = details

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.fix}" if self.fix else self.problem


def code_of(error: AssayError) -> ExitCode:
    """An error of the library that no table names is a fault of Assay."""
    known = (code for kind, code in ERRORS.items() if isinstance(error, kind))
    return next(known, ExitCode.OUR_FAULT)
