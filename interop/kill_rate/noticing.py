"""Whether a fault was at work: a saboteur whose every change is noticed."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.harness.saboteur import Saboteur, Turn

HOOKS = ("reply", "request", "batch", "call", "response", "block")
# A reply that is none was swallowed; from the other hooks, none means that nothing is put in its place.
SWALLOWING = "reply"


class Notice(Struct):
    acted: bool = False


def noticed(saboteur: Saboteur, notice: Notice) -> Saboteur:
    """The same saboteur, which tells when it changes something."""
    hooks = {name: getattr(saboteur, name) for name in HOOKS}
    watched = {name: _watched(name, hook, notice) for name, hook in hooks.items() if hook is not None}
    return msgspec.structs.replace(saboteur, **watched)


def _watched(name: str, hook: Callable[[Any, Turn], Any], notice: Notice) -> Callable[[Any, Turn], Any]:
    def watched(given: Any, turn: Turn) -> Any:
        before = deepcopy(given)
        result = hook(given, turn)
        replaced = name == SWALLOWING if result is None else result != before
        notice.acted = notice.acted or replaced or given != before
        return result

    return watched
