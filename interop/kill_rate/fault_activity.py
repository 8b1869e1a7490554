"""Saboteurs under another suite: recorded when they change something, and kept from failing.

A fault is written for the conversations of our scenarios. A message that it cannot handle passes unchanged:
an exception would close the connection, and the saboteur would be detected for that.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.harness.sabotage.saboteur import FaultContext, Saboteur

HOOKS = ("reply", "request", "batch", "call", "response", "block")
# These edit their argument in place and may return a replacement.
IN_PLACE = frozenset({"call", "response"})
Hook = Callable[[Any, FaultContext], Any]


class Activity(Struct):
    acted: bool = False
    failed_to_apply: bool = False
    """The fault could not handle a message."""


def observed(saboteur: Saboteur, activity: Activity) -> Saboteur:
    """The same saboteur, which records when it changes something."""
    hooks = {name: getattr(saboteur, name) for name in HOOKS}
    watched = {name: _watched(name, hook, activity) for name, hook in hooks.items() if hook is not None}
    return msgspec.structs.replace(saboteur, **watched)


def _watched(name: str, hook: Hook, activity: Activity) -> Hook:
    def watched(value: Any, context: FaultContext) -> Any:
        before = deepcopy(value)
        try:
            result = hook(value, context)
        except (LookupError, TypeError, ValueError, AttributeError):
            activity.failed_to_apply = True
            return _restored(value, before) if name in IN_PLACE else before
        replaced = result is not None if name in IN_PLACE else result != before
        activity.acted = activity.acted or replaced or value != before
        return result

    return watched


def _restored(value: Struct, before: Struct) -> None:
    for name in value.__struct_fields__:
        setattr(value, name, getattr(before, name))
