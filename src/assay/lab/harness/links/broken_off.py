"""Why a scenario could not go on. Each is a fact about the subject or the way to it, never a verdict.

BrokenOff
├── NoAnswer      a request got no answer in time
├── Gone          the subject hung up, or its process ended
├── Unreachable   no connection, or the process could not be started
│   └── TurnedAway   the subject answered that it does not let us in
├── NoToken       the authorization server gives out no token to us
└── Flooded       it sent more than a scenario may hold (in `recorder.py`)
"""

from __future__ import annotations


class BrokenOff(Exception):
    """Ends a scenario before its end; what was recorded until then is kept."""


class NoAnswer(BrokenOff):
    def __init__(self, what: str, waited: float) -> None:
        super().__init__(what, waited)
        self.what = what
        self.waited = waited

    def __str__(self) -> str:
        return f"no answer to {self.what} within {self.waited:g} s"


class Gone(BrokenOff):
    def __init__(self, how: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(how, errors)
        self.how = how
        self.errors = errors
        """The last lines of its standard error."""

    def __str__(self) -> str:
        return "\n".join((self.how, *(f"  stderr: {line}" for line in self.errors)))


class Unreachable(Gone):
    """Nothing was exchanged at all."""


class TurnedAway(Unreachable):
    """The subject is there, and refuses the connection."""

    def __init__(self, how: str, head: bytes) -> None:
        super().__init__(how)
        self.head = head
        """With which words."""


class NoToken(BrokenOff):
    """Without one, a protected subject cannot be talked to."""
