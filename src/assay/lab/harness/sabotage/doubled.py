"""A fault before a double: one saboteur whose hooks go through both."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec

from .saboteur import Answered, Changed, Double, Json, Saboteur, Turn


def doubled(saboteur: Saboteur, double: Double) -> Saboteur:
    """The same fault, before a server that has what the double stands for."""

    def request(message: Json, turn: Turn) -> Json | Answered:
        asked = message if saboteur.request is None else saboteur.request(message, turn)
        if isinstance(asked, Answered):
            return asked
        turn.asked = asked
        answered = double.request(asked, turn)
        if not isinstance(answered, Answered):
            return answered
        return Answered([_told(one, asked, saboteur, turn) for one in answered.messages], answered.status)

    def reply(message: Json, turn: Turn) -> Changed:
        asked = turn.asked
        return [_told(one, asked, saboteur, turn) for one in _each(double.reply(message, turn))]

    return msgspec.structs.replace(saboteur, request=request, reply=reply)


def _told(message: Any, asked: Json | None, saboteur: Saboteur, turn: Turn) -> Changed:
    """What the fault makes of one message of the double."""
    if saboteur.reply is None:
        return message
    turn.asked = None if "method" in message else asked
    # A copy: what the double keeps is its own, and stays healthy for whoever comes next.
    return saboteur.reply(deepcopy(message), turn)


def _each(changed: Changed) -> Iterator[Any]:
    if isinstance(changed, list):
        for one in changed:
            yield from _each(one)
    elif changed is not None:
        yield changed
