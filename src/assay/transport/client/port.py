"""The interface between a client and its transports."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from msgspec import Struct

from assay.model.client_error import ClientError, HttpFailure

if TYPE_CHECKING:  # a client imports this module before it connects, and those when it does
    from assay.model.definition import ToolDefinition
    from assay.model.jsonrpc import Envelope, Notification
    from assay.revisions.revision import Revision

    from .message import Outgoing

REPEATABLE: Final = frozenset(
    {
        *("initialize", "server/discover", "ping", "completion/complete", "logging/setLevel"),
        *("tools/list", "prompts/list", "prompts/get"),
        *("resources/list", "resources/templates/list", "resources/read"),
    }
)
"""Requests without an effect: they may be sent again if a connection ended before their answer."""


class SessionGone(HttpFailure):
    """The server has forgotten the session: it answers its id with 404."""


class Receiver(Protocol):
    """Takes what a link receives."""

    def receive(self, message: Envelope) -> None: ...

    def fail(self, request_id: str, error: ClientError) -> None:
        """The answer to one request cannot be used."""
        ...

    def lost(self, reason: Callable[[], ClientError]) -> None:
        """The connection has ended; `reason` makes an exception for each waiting call."""
        ...


class RequestLines(NamedTuple):
    """The lines that authorize a request, and a number for the token in them."""

    lines: str
    generation: int

    def __repr__(self) -> str:
        return f"RequestLines(…, {self.generation})"


class RefusedRequest(Struct, frozen=True):
    """A request that the server answered with 401 or 403."""

    status: int
    headers: Mapping[str, str]
    url: str
    generation: int
    attempt: int
    """How often it was sent before."""
    version: str | None = None
    """The revision that was used, if any."""
    peer: str = ""
    """The address of the server; empty if unknown."""


class Authorizer(Protocol):
    """Authorizes the requests of a link. It outlives links."""

    @property
    def patience(self) -> float:
        """Seconds that an authorization may take, beyond the time of the request itself."""
        ...

    @property
    def generation(self) -> int:
        """Changes with the token: what a server sent for one token may not be for another."""
        ...

    async def lines(self, method: str, url: str) -> RequestLines:
        """The lines for the head of a request; none before there is a token.

        Raises:
            ClientError: a token had to be renewed, which failed.
        """
        ...

    async def recover(self, refused: RefusedRequest) -> bool:
        """Get a token that the server may accept. Returns whether to send the request again.

        Raises:
            ClientError: there is none to be had.
        """
        ...

    def context(self) -> str:
        """A line for the text of an error, if an authorization is in progress."""
        ...

    async def close(self) -> None:
        """End an authorization in progress. Idempotent."""
        ...


REFUSALS: Final = frozenset({401, 403})
"""Statuses that an authorizer may know an answer to."""


class Link(Protocol):
    """One connection to a server, or for HTTP one endpoint."""

    @property
    def endpoint(self) -> str:
        """Identifies the server, to remember its revision; empty for none."""
        ...

    @property
    def is_stateless(self) -> bool:
        """Whether each request has a connection for itself, so that silence says nothing of the server."""
        ...

    @property
    def is_process(self) -> bool:
        """Whether opening starts the server."""
        ...

    async def open(self, receiver: Receiver) -> None:
        """
        Raises:
            ClientError: the server cannot be reached.
        """
        ...

    async def send(self, message: Outgoing, revision: Revision) -> None:
        """Send a message. A link with a connection per request returns after the answer was received.

        Raises:
            ClientError: it could not be sent, or not answered.
        """
        ...

    def cancel(self, notice: Notification, revision: Revision) -> Coroutine[Any, Any, None] | None:
        """Cancel a request whose `send` was cancelled, or whose answer is no longer awaited. Sends the notice
        before any later message, unless leaving has cancelled the request. Returns what is left to do."""
        ...

    def fallback(self, failure: HttpFailure | None) -> Link | None:
        """A link of an older transport, if this failure to open says that the server may need it, or it is
        known to."""
        ...

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        """Receive what the server sends outside of answers; returns at once if `send` needs no help. Calls
        `opened` when nothing is missed any more, or at the first failure."""
        ...

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        """Read the definitions of tools for what their calls need besides the message."""
        ...

    def context(self) -> str:
        """Lines about the server for the text of an error, such as what it wrote to stderr."""
        ...

    async def close(self) -> None:
        """End the connection in bounded time. Idempotent."""
        ...
