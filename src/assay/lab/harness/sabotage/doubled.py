"""A fault before a double: one saboteur whose hooks go through both."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec

from .saboteur import Answered, Changed, Double, FaultContext, Json, Saboteur


def doubled(saboteur: Saboteur, double: Double) -> Saboteur:
    """The same fault, before a server that has what the double stands for."""

    def request(message: Json, context: FaultContext) -> Json | Answered:
        asked = message if saboteur.request is None else saboteur.request(message, context)
        if isinstance(asked, Answered):
            return asked
        context.asked = asked
        answered = double.request(asked, context)
        if not isinstance(answered, Answered):
            return answered
        return Answered([_told(one, asked, saboteur, context) for one in answered.messages], answered.status)

    def reply(message: Json, context: FaultContext) -> Changed:
        asked = context.asked
        return [_told(one, asked, saboteur, context) for one in _each(double.reply(message, context))]

    return msgspec.structs.replace(saboteur, request=request, reply=reply)


def _told(message: Any, asked: Json | None, saboteur: Saboteur, context: FaultContext) -> Changed:
    """What the fault makes of one message of the double."""
    if saboteur.reply is None:
        return message
    context.asked = None if "method" in message else asked
    # A copy: what the double keeps is its own, and stays healthy for whoever comes next.
    return saboteur.reply(deepcopy(message), context)


def _each(changed: Changed) -> Iterator[Any]:
    if isinstance(changed, list):
        for one in changed:
            yield from _each(one)
    elif changed is not None:
        yield changed
