"""Why a scenario could not continue: facts about the subject or the connection, never verdicts.

BrokenOff
├── NoAnswer         a request got no answer in time
├── Gone             the subject closed the connection, or its process exited
│   └── Unreachable      no connection, or the process could not be started
│       ├── NotListening         nothing accepts connections at the address
│       └── ConnectionRejected   the subject refused the connection
├── NoToken          the authorization server issued no token
└── Flooded          the subject sent more than a recording may hold (in `recorder.py`)
"""

from __future__ import annotations


class BrokenOff(Exception):
    """Aborts a scenario; the frames recorded so far are kept."""


class NoAnswer(BrokenOff):
    def __init__(self, request: str, waited: float) -> None:
        super().__init__(request, waited)
        self.request = request
        self.waited = waited

    def __str__(self) -> str:
        return f"no answer to {self.request} within {self.waited:g} s"


class Gone(BrokenOff):
    def __init__(self, how: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(how, errors)
        self.how = how
        self.errors = errors
        """The last lines of standard error."""

    def __str__(self) -> str:
        return "\n".join((self.how, *(f"  stderr: {line}" for line in self.errors)))


class Unreachable(Gone):
    """Nothing was exchanged."""


class NotListening(Unreachable):
    """Nothing accepts connections at the address."""


class NotRunnable(Unreachable):
    """The command of the subject does not exist, or may not be run."""


class ConnectionRejected(Unreachable):
    """The subject answered and refused the connection."""

    def __init__(self, how: str, head: bytes) -> None:
        super().__init__(how)
        self.head = head
        """The response head of the refusal."""


class NoToken(BrokenOff):
    """The authorization server issued no token, which a protected subject requires."""
