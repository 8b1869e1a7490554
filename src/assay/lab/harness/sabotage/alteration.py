"""How a fault changes messages, whatever carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from .saboteur import Answered, FaultContext, Json, Saboteur

encode: Final = msgspec.json.Encoder().encode


def decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class Alteration:
    """A saboteur at work in one place: it sees both directions, and remembers who asked what."""

    def __init__(self, saboteur: Saboteur, context: FaultContext) -> None:
        self.saboteur = saboteur
        self.context = context
        self._asked: dict[str, Json] = {}

    def asked(self, body: bytes) -> bytes | Answered:
        """What the server is asked, changed; or what is answered in its place."""
        message = decoded(body)
        for one in message if isinstance(message, list) else [message]:
            self._remember(one)
        change = self._change_of(message)
        if change is None:
            return body
        changed = change(message, self.context)
        return changed if isinstance(changed, Answered) else encode(changed)

    def _change_of(self, message: Any) -> Callable[[Any, FaultContext], Any] | None:
        if isinstance(message, list):
            return self.saboteur.batch
        return self.saboteur.request if isinstance(message, dict) else None

    def _remember(self, message: Any) -> None:
        if isinstance(message, dict) and "method" in message and "id" in message:
            self._asked[repr(message["id"])] = message

    def answered(self, body: bytes) -> list[bytes]:
        """What the server says, changed: none, one or several bodies."""
        if self.saboteur.reply is None:
            return [body]
        message = decoded(body)
        if isinstance(message, list):
            return [encode([self._changed(one) for one in message])]
        return bodies(self._changed(message)) if isinstance(message, dict) else [body]

    def _changed(self, message: Any) -> Any:
        if not isinstance(message, dict) or self.saboteur.reply is None:
            return message
        self.context.asked = None if "method" in message else self._asked.get(repr(message.get("id")))
        return self.saboteur.reply(message, self.context)


def bodies(changed: Any) -> list[bytes]:
    """What a fault returned, as bodies to send."""
    if changed is None:
        return []
    if isinstance(changed, list):
        return [body for one in changed for body in bodies(one)]
    return [changed if isinstance(changed, bytes) else encode(changed)]
