"""Why the guest could not do what it was asked to do.

Failed            ends the guest with status 1
├── Refusal       the server answered with an error
├── NotServed     HTTP says that there is nothing to be had here
├── Broken        the connection ended before the answer
└── SessionLost   the server does not know the session
"""

from __future__ import annotations

from typing import Any


class Failed(Exception):
    pass


class Refusal(Failed):
    def __init__(self, method: str, error: Any) -> None:
        super().__init__(method, error)
        self.method = method
        self.error: dict[str, Any] = error if isinstance(error, dict) else {}

    @property
    def code(self) -> Any:
        return self.error.get("code")

    @property
    def data(self) -> dict[str, Any]:
        data = self.error.get("data")
        return data if isinstance(data, dict) else {}

    def __str__(self) -> str:
        return f"{self.method} was refused: {self.code} {self.error.get('message')}"


class Broken(Failed):
    pass


class SessionLost(Failed):
    pass


class NotServed(Failed):
    pass
