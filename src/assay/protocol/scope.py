"""What travels with each message besides the message itself."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    # For types only. Transports name `Session` through this module: they may hold one, not drive it.
    from assay.revisions.revision import Revision

    from .session import Peer
    from .session import Session as Session
    from .session_budget import SessionBudget as SessionBudget

Send = Callable[[bytes], Awaitable[None]]
"""Sends one encoded message to the client that made the request. It never raises when that client has
disconnected: a handler's work does not depend on who still listens."""

SCOPE_TOKEN: Final = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""The syntax of one OAuth scope (RFC 6749, section 3.3)."""


class Scope(Struct, kw_only=True):
    """The context of one message: who sent it, how it arrived, and under which session and revision.

    Hosts that embed a server set `principal`, `scopes` and `state`; transports set the rest.
    """

    principal: Any = None
    """The authenticated caller, as established by the host. Everything a server stores belongs to a
    principal."""

    scopes: frozenset[str] | None = None
    """The scopes granted to the principal. None means that the host does not check scopes, and then
    everything is allowed."""

    expires: float | None = None
    """When the grant expires, in seconds since the epoch. Long-lived streams end at that time."""

    transport: str = "direct"
    """The name of the transport: `stdio`, `http`, `websocket`, `memory`, or `direct` for `Server.handle`."""

    session: Session | None = None
    """The session that the message belongs to; None serves it on its own."""

    revision: Revision | str | None = None
    """The protocol revision of a message without a session, as a value or by its date."""

    peer: Peer | None = None
    """What the message declares about its client, if the transport has already read it."""

    mirrors: Mapping[bytes, bytes] | None = None
    """Headers that must match a name in the message's parameters, in the revisions that require it."""

    raw_headers: Iterable[tuple[bytes, bytes]] = ()
    """HTTP headers as they arrived; see `headers` for text."""

    state: dict[str, Any] = field(default_factory=dict)
    """Data that the host passes to handlers, read as `ctx.scope.state`."""

    departure: Callable[[], Awaitable[None]] | None = None
    """Returns when the client has disconnected. Set by transports on which an answer could then not be sent
    any more."""

    disconnect_cancels: bool = True
    """Whether a disconnection cancels the request. Otherwise it only cancels one that has not started yet."""

    detach: Callable[[float | None], Awaitable[None]] | None = None
    """Closes the connection so that the client returns later for its answer. Set by transports that can."""

    client_address: Callable[[], str] | None = None
    """Returns the address that the message came from. Set by transports that know one; a function, because
    few messages need it."""

    @property
    def client_key(self) -> Hashable:
        """Whose share of a limit the message counts against: the principal's, else that of the address it
        came from, else that of its connection."""
        if self.principal is not None:
            return "principal", _hashable(self.principal)
        if self.client_address is not None:
            return "address", self.client_address()
        return "connection", id(self.session)

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers with lower-case names; empty on other transports."""
        return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self.raw_headers}


HOST_FIELDS: Final = frozenset(("principal", "scopes", "expires", "state"))
"""What a host says about a caller. Transports set the other fields of `Scope`."""
TRANSPORT_FIELDS: Final = tuple(name for name in Scope.__struct_fields__ if name not in HOST_FIELDS)


def adopted(host_scope: Scope, scope: Scope) -> Scope:
    """A scope of the host's own class, with its fields and with those that the transport has set."""
    typed = copy(host_scope)
    for name in TRANSPORT_FIELDS:
        setattr(typed, name, getattr(scope, name))
    return typed


def retyped(scope: Scope, scope_type: type[Scope]) -> Scope:
    """The same scope as a subclass.

    Raises:
        TypeError: the subclass has a field without a default.
    """
    return scope_type(**{name: getattr(scope, name) for name in Scope.__struct_fields__})


def _hashable(principal: Any) -> Hashable:
    """A host may use any value as principal, also a dictionary."""
    try:
        hash(principal)
    except TypeError:
        return repr(principal)
    return principal  # type: ignore[no-any-return]
