"""Events of a run in progress, for displays. Reports read the stored run instead."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .run import CellResult, Run, SubjectRecord


class RunStarted(Struct, frozen=True):
    subjects: list[str]


class SubjectKnown(Struct, frozen=True):
    """Discovery has finished on one transport."""

    record: SubjectRecord


class CellsPlanned(Struct, frozen=True):
    count: int


class CellStarted(Struct, frozen=True):
    scenario: str
    transport: str
    revision: str


class CellFinished(Struct, frozen=True):
    """Sent in the order of the plan, not of completion."""

    result: CellResult


class RunFinished(Struct, frozen=True):
    run: Run


RunEvent = RunStarted | SubjectKnown | CellsPlanned | CellStarted | CellFinished | RunFinished
Watch = Callable[[RunEvent], None]
