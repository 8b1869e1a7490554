"""Errors of the scripted client.

StepFailed            the client exits with status 1
├── ErrorAnswer       the server answered with a JSON-RPC error
├── EndpointMissing   an HTTP status says that the endpoint does not exist
├── ConnectionBroken  the connection ended before the answer
└── SessionLost       the server does not know the session
"""

from __future__ import annotations

from typing import Any


class StepFailed(Exception):
    pass


class ErrorAnswer(StepFailed):
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


class ConnectionBroken(StepFailed):
    pass


class SessionLost(StepFailed):
    pass


class EndpointMissing(StepFailed):
    pass
