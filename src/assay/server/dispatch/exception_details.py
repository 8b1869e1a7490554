"""What a client learns about an exception while a server is in debug mode."""

from __future__ import annotations

from dataclasses import dataclass
from os import sep
from pathlib import Path
from traceback import StackSummary, TracebackException
from types import TracebackType
from typing import Final

from assay.model.visible import visible, visible_traceback

MESSAGE_LENGTH: Final = 1000
TRACEBACK_LENGTH: Final = 16_000
FRAMES: Final = 50
"""Frames of a traceback, the last ones of each exception."""
CUT: Final = "…"
FRAMEWORK: Final = tuple(str(Path(__file__).parents[2] / package) + sep for package in ("server", "protocol"))
"""Where code that calls handlers is."""


@dataclass(frozen=True, slots=True)
class ExceptionDetails:
    exception: str
    message: str
    traceback: str

    @property
    def summary(self) -> str:
        return f"{self.exception}: {self.message}" if self.message else self.exception

    @property
    def data(self) -> dict[str, str]:
        return {"exception": self.exception, "message": self.message, "traceback": self.traceback}


def describe(error: BaseException) -> ExceptionDetails:
    """The type, message and traceback of an exception: bounded in length, and nothing in them acts on a
    terminal. Values of variables are not included."""
    trace = TracebackException(type(error), error, _own_frames(error.__traceback__), limit=-FRAMES)
    trace.stack = _without_framework(trace.stack)
    return ExceptionDetails(
        exception=type(error).__qualname__,
        message=_beginning(visible(_message(error)[: MESSAGE_LENGTH + 1]), MESSAGE_LENGTH),
        traceback=_end(visible_traceback(trace, MESSAGE_LENGTH), TRACEBACK_LENGTH),
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "its message cannot be read: str() of it failed"


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this package that lead to the handler. A traceback that has no
    others stays as it is."""
    own = trace
    while own is not None and own.tb_frame.f_code.co_filename.startswith(FRAMEWORK):
        own = own.tb_next
    return own or trace


def _without_framework(stack: StackSummary) -> StackSummary:
    """The frames without those of this package between middleware and the handler. What a handler called
    stays."""
    is_own = [not frame.filename.startswith(FRAMEWORK) for frame in stack]
    last = max((place for place, own in enumerate(is_own) if own), default=-1)
    return StackSummary.from_list(
        [frame for place, frame in enumerate(stack) if is_own[place] or place > last]
    )


def _beginning(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}{CUT}"


def _end(text: str, length: int) -> str:
    """The end of a traceback: what was raised, and where."""
    return text if len(text) <= length else f"{CUT}\n{text[-length:]}"
