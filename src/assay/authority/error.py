"""OAuth errors: an error code, a description for developers, and a status."""

from __future__ import annotations

from collections.abc import Mapping


class OAuthError(Exception):
    """Sent as `{"error": …, "error_description": …}`, or with a redirect where its target can be trusted."""

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


class DisplayedError(OAuthError):
    """Shown to the person, because the redirect target cannot be trusted (RFC 6749, 4.1.2.1)."""


def invalid_client(description: str) -> OAuthError:
    """Client authentication failed; the challenge names a method (RFC 6749, 5.2)."""
    headers = {"www-authenticate": 'Basic realm="authority"'}
    return OAuthError("invalid_client", description, status=401, headers=headers)
