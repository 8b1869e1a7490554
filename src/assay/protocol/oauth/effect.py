"""What a flow asks its driver to do. A flow is a generator of these; the driver sends back their results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from .record import Record

T = TypeVar("T")


class HttpRequest(NamedTuple):
    """Send a request; the driver answers with an `HttpResponse`, whatever its status.

    Only a GET may follow redirects, and only within its origin: anything else may carry credentials.
    """

    method: str
    url: str
    headers: Mapping[str, str] = {}
    body: bytes = b""

    def __repr__(self) -> str:
        return f"HttpRequest({self.method!r}, {self.url!r})"  # without credentials


class HttpResponse(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """With lower-case names."""
    body: bytes = b""

    def __repr__(self) -> str:
        return f"HttpResponse({self.status})"


class Listen(NamedTuple):
    """Prepare to receive the redirect; the driver answers with the redirect URI. `preferred` is one that was
    registered before, if any."""

    preferred: str | None


class Visit(NamedTuple):
    """Let the user decide at this URL; the driver answers with the URL that the user was redirected to."""

    url: str
    redirect_uri: str
    state: str


class Supply(NamedTuple):
    """Get a value from the user's program that changes with time, such as an ID token; the driver answers
    with a text."""

    name: str


class Save(NamedTuple):
    """Store what is known so far: a registration survives an authorization that the user rejects."""

    record: Record


Effect = HttpRequest | Listen | Visit | Supply | Save
Flow = Generator[Effect, Any, T]


class Signer(Protocol):
    """A private key."""

    @property
    def algorithm(self) -> str: ...

    @property
    def public_jwk(self) -> dict[str, str]: ...

    def sign(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
        """A signed JWT."""
        ...


class Environment(NamedTuple):
    """What flows need of the world and may not have themselves."""

    now: Callable[[], float]
    """Seconds since the epoch."""
    random: Callable[[], str]
    """At least 128 random bits as 43 to 128 characters that a URL may contain."""
