"""A saboteur in front of a double: its hooks apply to the messages of the double."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec

from .saboteur import Changed, Double, FaultContext, Json, LocalAnswer, Saboteur


def doubled(saboteur: Saboteur, double: Double) -> Saboteur:
    """The same fault in a server that has the extension of the double."""

    def request(message: Json, context: FaultContext) -> Json | LocalAnswer:
        altered = message if saboteur.request is None else saboteur.request(message, context)
        if isinstance(altered, LocalAnswer):
            return altered
        context.request = altered
        answer = double.request(altered, context)
        if not isinstance(answer, LocalAnswer):
            return answer
        return LocalAnswer(
            [_alter(reply, altered, saboteur, context) for reply in answer.messages], answer.status
        )

    def reply(message: Json, context: FaultContext) -> Changed:
        request = context.request
        replies = _flat(double.reply(message, context))
        return [_alter(reply, request, saboteur, context) for reply in replies]

    return msgspec.structs.replace(saboteur, request=request, reply=reply)


def _alter(message: Any, request: Json | None, saboteur: Saboteur, context: FaultContext) -> Changed:
    if saboteur.reply is None:
        return message
    context.request = None if "method" in message else request
    # A copy, because the double may keep the message and send it again.
    return saboteur.reply(deepcopy(message), context)


def _flat(altered: Changed) -> Iterator[Any]:
    if isinstance(altered, list):
        for message in altered:
            yield from _flat(message)
    elif altered is not None:
        yield altered
