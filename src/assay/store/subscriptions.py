"""The name of this process on the bus, and which of its functions get the messages of a topic."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from itertools import count

from .port import BusMessage, Deliver

_names: dict[str, int] = {}
"""Names that processes have given themselves, with the ids of those processes."""


def worker_name(before: str) -> str:
    """The name that the process had before, so that its streams remain its own; else a new one."""
    if _names.get(before) == os.getpid():
        return before
    name = secrets.token_hex(4)
    _names[name] = os.getpid()
    return name


class Subscriptions:
    """Functions by topic."""

    def __init__(self) -> None:
        self._by_topic: dict[str, dict[int, Deliver]] = {}
        self._numbers = count()

    def add(self, topic: str, deliver: Deliver) -> Callable[[], None]:
        number = next(self._numbers)
        functions = self._by_topic.setdefault(topic, {})
        functions[number] = deliver
        return lambda: functions.pop(number, None) and None

    def deliver(self, message: BusMessage) -> None:
        for deliver in list(self._by_topic.get(message.topic, {}).values()):
            deliver(message)
