"""Client saboteurs: the scripted client with one named fault each.

They come last in the topic modules of the suite. Most change messages of the client:

    @on_message("a request names no version", breaks="META-05")
    def no_version(message: Json, client: ScriptedClient) -> Json:
        ...

Others change its HTTP requests (`on_request`), the messages that it receives (`on_received`), its lines
(`on_line`) or a behaviour (`behaviour`), or replace its whole run (`misbehaving`).
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
"""Returns the message to send, bytes that need not be a message, a list of these, or None to send nothing."""
OnRequest = Callable[[Request, "ScriptedClient"], Request | None]
"""Returns the HTTP request to send, or None to send none."""
OnReceived = Callable[[Json, "ScriptedClient"], Json | None]
"""Returns the message for the client to handle, or None to drop it."""
OnLine = Callable[[bytes, "ScriptedClient"], bytes]
Behave = Callable[["ScriptedClient"], Awaitable[None]]


class ClientSaboteur(Fault, frozen=True):
    message: OnMessage | None = None
    request: OnRequest | None = None
    received: OnReceived | None = None
    line: OnLine | None = None
    behave: Behave | None = None
    behaviour: dict[str, Any] = field(default_factory=dict)
    """Changed fields of `ClientBehaviour`."""
    limit: float | None = None
    """Seconds after which to stop a client that never ends."""
    command: tuple[str, ...] = ()
    """A command to run instead of the scripted client, for faults of the process itself."""


on_message = maker(ClientSaboteur, "message", EVERY)
"""Change each message of the client: requests, notifications and answers."""
on_request = maker(ClientSaboteur, "request", HTTP_ONLY)
"""Change each HTTP request of the client, to any URL."""
on_received = maker(ClientSaboteur, "received", EVERY)
"""Change each message before the client handles it."""
on_line = maker(ClientSaboteur, "line", STDIO_ONLY)
"""Change each line of the client as bytes, including the newline."""
misbehaving = maker(ClientSaboteur, "behave", EVERY)
"""Replace the run of the client; the function gets the client and calls its methods."""


def behaviour(
    name: str, fault: str, *, breaks: str, transports: frozenset[Transport] = HTTP_ONLY, **more: Any
) -> ClientSaboteur:
    """The scripted client with one behaviour changed: `behaviour(…, breaks="AU-52", compares_iss=False)`.

    `scenario`, `window` and `limit` are the saboteur's; everything else is a field of `ClientBehaviour`.
    """
    own = {key: more.pop(key) for key in ("scenario", "window", "limit") if key in more}
    return ClientSaboteur(id=name, fault=fault, breaks=breaks, transports=transports, behaviour=more, **own)
