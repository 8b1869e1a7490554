"""How a command ends: the exit codes, the same for every command, and the failure that carries one."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    """Done; for a command that judges: the subject conforms."""
    DOES_NOT_CONFORM = 1
    USAGE = 2
    """The command line is wrong, or selects nothing."""
    INCOMPLETE = 3
    """Nothing was proved, or the run could not be made."""
    NOT_STARTED = 4
    """The subject, or the server to serve, did not start."""
    OUR_FAULT = 70
    INTERRUPTED = 130


class CommandFailed(Exception):
    """Ends the command with one line for the user, and one more for what they can do about it."""

    def __init__(self, code: ExitCode, problem: str, hint: str | None = None) -> None:
        super().__init__(code, problem, hint)
        self.code = code
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.hint}" if self.hint else self.problem
