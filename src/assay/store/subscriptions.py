"""Who in this process gets the messages of a topic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from .port import BusMessage, Deliver


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
