"""Altering messages by a fault, independent of the transport."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Final

import msgspec

from .saboteur import FaultContext, Json, LocalAnswer, Saboteur

encode: Final = msgspec.json.Encoder().encode


def decode(body: bytes) -> Any:
    """The decoded JSON, or None if it is invalid."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class Alteration:
    """Alters both directions of a connection, and remembers the requests for their replies."""

    def __init__(self, saboteur: Saboteur, context: FaultContext) -> None:
        self.saboteur = saboteur
        self.context = context
        self._requests: dict[str, Json] = {}

    def alter_request(self, body: bytes) -> bytes | LocalAnswer:
        """The body to send to the server, or the answer to send in its place."""
        if self.saboteur.body is not None:
            changed = self.saboteur.body(body, self.context)
            if isinstance(changed, LocalAnswer):
                return changed
            body = changed
        message = decode(body)
        for member in message if isinstance(message, list) else [message]:
            self._remember(member)
        hook = self._request_hook(message)
        if hook is None:
            return body
        altered = hook(message, self.context)
        return altered if isinstance(altered, LocalAnswer) else encode(altered)

    def _request_hook(self, message: Any) -> Callable[[Any, FaultContext], Any] | None:
        if isinstance(message, list):
            return self.saboteur.batch
        return self.saboteur.request if isinstance(message, dict) else None

    def _remember(self, message: Any) -> None:
        if isinstance(message, dict) and "method" in message and "id" in message:
            self._requests[repr(message["id"])] = message

    def alter_reply(self, body: bytes) -> list[bytes]:
        """The bodies to send in place of a body of the server."""
        if self.saboteur.reply is None:
            return [body]
        message = decode(body)
        if isinstance(message, list):
            replies = (self._alter(member) for member in message)
            lists = (reply if isinstance(reply, list) else [reply] for reply in replies)
            return [encode([*chain.from_iterable(lists)])]
        return bodies(self._alter(message)) if isinstance(message, dict) else [body]

    def _alter(self, message: Any) -> Any:
        if not isinstance(message, dict) or self.saboteur.reply is None:
            return message
        self.context.request = None if "method" in message else self._requests.get(repr(message.get("id")))
        return self.saboteur.reply(message, self.context)


def bodies(altered: Any) -> list[bytes]:
    """The return value of a hook as bodies to send."""
    if altered is None:
        return []
    if isinstance(altered, list):
        return [body for message in altered for body in bodies(message)]
    return [altered if isinstance(altered, bytes) else encode(altered)]
