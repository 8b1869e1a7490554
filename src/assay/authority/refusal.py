"""How a request of OAuth is refused: an error code, words for a developer, and a status."""

from __future__ import annotations

from collections.abc import Mapping


class Refused(Exception):
    """Answered as `{"error": …, "error_description": …}`, or by a redirect where that can be trusted."""

    def __init__(
        self, error: str, description: str, *, status: int = 400, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(error, description)
        self.error = error
        self.description = description
        self.status = status
        self.headers = dict(headers or {})

    def __str__(self) -> str:
        return f"{self.error}: {self.description}"


class NotRedirected(Refused):
    """Where an answer would go cannot be trusted: it is shown to the person instead."""


def unknown_client(description: str) -> Refused:
    """A client that did not prove who it is, and is told one way in which it can."""
    headers = {"www-authenticate": 'Basic realm="authority"'}
    return Refused("invalid_client", description, status=401, headers=headers)
