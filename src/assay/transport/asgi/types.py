"""The three types that ASGI is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

AsgiScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Transmit = Callable[[Message], Awaitable[None]]
"""ASGI's `send`; named apart from the `Send` that carries protocol messages."""
