"""Saboteurs that are clients: the lab's client with one named fault each, to prove that a check can fail.

They stand last in the topic modules of the suite. Most change what the client sends:

    @on_message("a request names no version", breaks="META-05")
    def no_version(message: Json, client: ScriptedClient) -> Json:
        ...

Others change its HTTP requests (`on_request`), what it makes of what it hears (`on_hearing`), the lines it
writes (`on_line`), a habit of it (`behaviour`), or all that it does (`misbehaving`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec import field

from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, Transport

from .fault import Fault, maker
from .saboteur import Json, Request

if TYPE_CHECKING:
    from assay.lab.harness.scripted_client.client import ScriptedClient

EVERY = frozenset({Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET})

OnMessage = Callable[[Json, "ScriptedClient"], Any]
"""Returns the message to send; bytes for something that is none; a list of such, in
their order; none for nothing."""
OnRequest = Callable[[Request, "ScriptedClient"], Request | None]
"""Returns the HTTP request to send; none for not sending it."""
OnReceived = Callable[[Json, "ScriptedClient"], Json | None]
"""Returns what the client believes it was told; none where it does not hear it."""
OnLine = Callable[[bytes, "ScriptedClient"], bytes]
Behave = Callable[["ScriptedClient"], Awaitable[None]]


class ClientSaboteur(Fault, frozen=True):
    message: OnMessage | None = None
    request: OnRequest | None = None
    received: OnReceived | None = None
    line: OnLine | None = None
    behave: Behave | None = None
    behaviour: dict[str, Any] = field(default_factory=dict)
    """Habits of the client that are otherwise; see `client/behaviour.py`."""
    limit: float | None = None
    """Seconds that it is given, where it never ends."""
    command: tuple[str, ...] = ()
    """A process of its own in place of the client, where the fault is how a process ends."""


on_message = maker(ClientSaboteur, "message", EVERY)
"""Change each message of the client: requests, notifications and answers."""
on_request = maker(ClientSaboteur, "request", HTTP_ONLY)
"""Change each HTTP request of the client, to the endpoint or anywhere else."""
on_received = maker(ClientSaboteur, "received", EVERY)
"""Change what the client hears before it makes something of it."""
on_line = maker(ClientSaboteur, "line", STDIO_ONLY)
"""Change each line of the client as bytes, newline included."""
misbehaving = maker(ClientSaboteur, "behave", EVERY)
"""Play the whole client, with the client as a tool."""


def behaviour(
    name: str, fault: str, *, breaks: str, transports: frozenset[Transport] = HTTP_ONLY, **more: Any
) -> ClientSaboteur:
    """The scripted client with one behaviour changed: `behaviour(…, breaks="AU-52", compares_iss=False)`.

    `scenario`, `window` and `limit` are the saboteur's; everything else is a field of `ClientBehaviour`.
    """
    own = {key: more.pop(key) for key in ("scenario", "window", "limit") if key in more}
    return ClientSaboteur(id=name, fault=fault, breaks=breaks, transports=transports, behaviour=more, **own)
