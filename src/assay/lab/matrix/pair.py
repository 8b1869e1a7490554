"""A cell of the matrix: one client, server, transport and revision, and what came of it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Pair(Struct, frozen=True, order=True):
    client: str
    server: str
    transport: str
    revision: str

    @property
    def id(self) -> str:
        return f"{self.client}_{self.server}_{self.transport}_{self.revision}"

    def __str__(self) -> str:
        return f"{self.client} with {self.server} on {self.transport} at {self.revision}"


class Status(StrEnum):
    OK = "ok"
    FAULTY = "faulty"
    UNSUPPORTED = "not supported"
    NOT_RUN = "could not run"


class Blame(StrEnum):
    """Whose fault it is."""

    CLIENT = "client"
    SERVER = "server"
    BOTH = "both"
    UNCLEAR = "unclear"
    NONE = ""


def joint(blames: set[Blame]) -> Blame:
    """The blame for several faults."""
    known = blames & {Blame.CLIENT, Blame.SERVER}
    if len(known) == 2 or Blame.BOTH in blames:
        return Blame.BOTH
    if known:
        return known.pop()
    return Blame.UNCLEAR if blames - {Blame.NONE} else Blame.NONE


class StepStatus(StrEnum):
    OK = "ok"
    FAILED = "failed"
    UNSUPPORTED = "not supported"
    NOT_TRIED = "not tried"


class StepResult(Struct, frozen=True, omit_defaults=True):
    name: str
    status: StepStatus
    detail: str = ""
    blame: Blame = Blame.NONE
    frames: list[int] = []


class BrokenRule(Struct, frozen=True, omit_defaults=True):
    """A MUST that one side broke in the recorded traffic."""

    blame: Blame
    requirement: str
    title: str
    statement: str = ""
    link: str = ""
    expected: str = ""
    observed: str = ""
    frames: list[int] = []


class PairResult(Struct, frozen=True, omit_defaults=True):
    pair: Pair
    status: Status
    blame: Blame = Blame.NONE
    reason: str = ""
    """In one line."""
    steps: list[StepResult] = []
    rules: list[BrokenRule] = []
    seconds: float = 0.0
    started: str = ""
    key: str = ""
    """What the result depends on: see `key.py`."""
    trace: str = ""
    """Name of the file with the traffic, from the server's side; empty if there was none."""
    client_trace: str = ""
    output: str = ""
    """The last lines that client and server wrote."""

    @property
    def works(self) -> bool:
        """Whether all steps were done, even if one side broke a rule."""
        return bool(self.steps) and all(
            step.status in (StepStatus.OK, StepStatus.UNSUPPORTED) for step in self.steps
        )
