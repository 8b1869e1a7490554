"""Saboteurs in strange company: noticed when they change something, and kept from breaking down.

A fault is written for the conversations of our scenarios. Where the official suite says something that it was
not made for, it lets it pass: a fault that broke down would cut the connection, and be caught for that.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.harness.sabotage.saboteur import FaultContext, Saboteur

HOOKS = ("reply", "request", "batch", "call", "response", "block")
# These change what they are given, and return what is to be sent in its place, if anything is.
IN_PLACE = frozenset({"call", "response"})
Hook = Callable[[Any, FaultContext], Any]


class Notice(Struct):
    acted: bool = False
    stumbled: bool = False
    """There was something that the fault was not made for."""


def noticed(saboteur: Saboteur, notice: Notice) -> Saboteur:
    """The same saboteur, which tells when it changes something."""
    hooks = {name: getattr(saboteur, name) for name in HOOKS}
    watched = {name: _watched(name, hook, notice) for name, hook in hooks.items() if hook is not None}
    return msgspec.structs.replace(saboteur, **watched)


def _watched(name: str, hook: Hook, notice: Notice) -> Hook:
    def watched(given: Any, context: FaultContext) -> Any:
        before = deepcopy(given)
        try:
            result = hook(given, context)
        except (LookupError, TypeError, ValueError, AttributeError):
            notice.stumbled = True
            return _restored(given, before) if name in IN_PLACE else before
        replaced = result is not None if name in IN_PLACE else result != before
        notice.acted = notice.acted or replaced or given != before
        return result

    return watched


def _restored(given: Struct, before: Struct) -> None:
    for name in given.__struct_fields__:
        setattr(given, name, getattr(before, name))
