"""A task as a store keeps it: apart from the handler that works on it."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from msgspec import Raw, Struct, field

from .jsonrpc import ErrorBody


class Status(Enum):
    """The states of a task, as they are written on the wire."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED: Final = frozenset({Status.WORKING, Status.INPUT_REQUIRED})


class TaskRecord(Struct, frozen=True, kw_only=True):
    """One version of a task. A change makes the next version; a store replaces only the one before it."""

    id: str
    owner: str
    """The principal that it belongs to, as a digest; empty for callers that are not authenticated."""
    form: str
    """The form of tasks that its creator uses; no other sees it."""
    tool: str
    worker: str
    """The name of the process that runs its handler."""
    created: float
    """Seconds since the epoch."""
    updated: float
    ttl: int
    """Milliseconds from its creation until it is deleted."""
    poll_interval: int
    """Milliseconds that clients should wait between two requests."""
    status: Status = Status.WORKING
    message: str | None = None
    questions: dict[str, Raw] = field(default_factory=dict)
    """Requests to the client that it has not answered yet, by key."""
    answers: dict[str, Raw] = field(default_factory=dict)
    """Answers that the handler has not read yet, by the key of their question."""
    result: Raw | None = None
    """What the tool call would have returned."""
    error: ErrorBody | None = None
    """The JSON-RPC error that it would have been answered with."""
    version: int = 0
    serial: int = 0
    """Its position in the order of creation; set by the store."""

    @property
    def expires(self) -> float:
        """Seconds since the epoch."""
        return self.created + self.ttl / 1000

    @property
    def is_finished(self) -> bool:
        return self.status not in UNFINISHED

    @property
    def size(self) -> int:
        """Bytes that it counts in a store."""
        texts = (self.id, self.owner, self.tool, self.message or "")
        values = (*self.questions.values(), *self.answers.values(), self.result or b"")
        return OVERHEAD + sum(map(len, texts)) + sum(len(bytes(value)) for value in values)


class TaskState(Struct, frozen=True):
    """A task as a client sees it.

    Args:
        id: Its id.
        status: `working`, `input_required`, `completed`, `failed` or `cancelled`.
        message: What it is doing, or why it ended.
        created_at, updated_at: ISO 8601 times, as the server wrote them.
        ttl: Seconds from its creation that the server keeps it; None without a limit.
        poll_interval: Seconds that the server suggests between two polls.
    """

    id: str
    status: str
    message: str | None = None
    created_at: str = ""
    updated_at: str = ""
    ttl: float | None = None
    poll_interval: float | None = None

    @property
    def is_done(self) -> bool:
        return Status(self.status) not in UNFINISHED


OVERHEAD: Final = 512
"""Bytes that a task takes besides its texts and values."""

Mode = Literal["optional", "required", "on_demand"]


class TaskOptions(Struct, frozen=True):
    """How a tool runs as a task: `@server.tool(task=TaskOptions("optional", ttl=600))`.

    Args:
        mode: `optional` runs as a task for clients that can have one, `required` only so; `on_demand` becomes
            one when its handler calls `ctx.start_task()`.
        ttl: Seconds from its creation that the task is kept; by default, and at most, `Limits.task_ttl`.
        poll_interval: Seconds that clients should wait between two requests for its state.
    """

    mode: Mode = "optional"
    ttl: float | None = None
    poll_interval: float = 0.5

    def __post_init__(self) -> None:
        if self.mode not in ("optional", "required", "on_demand"):
            raise ValueError(f"task must be optional, required or on_demand: {self.mode!r:.40}")
        if (self.ttl is not None and self.ttl <= 0) or self.poll_interval <= 0:
            raise ValueError("ttl and poll_interval of a task must be greater than zero")
