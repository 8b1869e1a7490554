"""The work behind a task: a row of stages. Time is counted in looks at it, so that nobody waits."""

from __future__ import annotations

import secrets
from typing import Any, Final

from msgspec import Struct, field

from assay.lab.harness.run.recording import now
from assay.lab.harness.sabotage.saboteur import Json

Stage = dict[str, Any]
"""A status, and what comes with it."""
WORKING: Final[Stage] = {"status": "working"}
TTL: Final = 60_000
PACE: Final = 1


class Job(Struct):
    ahead: list[Stage]
    """The stages from now on; the last of them is the end."""
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    created: str = field(default_factory=now)
    updated: str = field(default_factory=now)

    @property
    def seed(self) -> Json:
        """The task without what comes with its status."""
        return {
            "taskId": self.id,
            "status": self.ahead[0]["status"],
            "createdAt": self.created,
            "lastUpdatedAt": self.updated,
            "ttlMs": TTL,
            "pollIntervalMs": PACE,
        }

    def look(self) -> Json:
        """The task in full. Work goes on by one stage when it was looked at."""
        told = {**self.seed, **self.ahead[0]}
        if self.ahead[0]["status"] == "working":
            self.go_on()
        return told

    def go_on(self) -> None:
        if len(self.ahead) > 1:
            self._become(self.ahead[1:])

    def take(self, answers: Json) -> None:
        """Answers to what it waits for; any others are ignored."""
        wanted = self.ahead[0].get("inputRequests", {})
        left = {key: question for key, question in wanted.items() if key not in answers}
        if left:
            self._become([{"status": "input_required", "inputRequests": left}, *self.ahead[1:]])
        elif wanted:
            self.go_on()

    def cancel(self) -> None:
        if len(self.ahead) > 1:
            self._become([{"status": "cancelled"}])

    def _become(self, ahead: list[Stage]) -> None:
        self.ahead = ahead
        self.updated = now()
