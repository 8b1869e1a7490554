"""Which capabilities a server has: declared from what is registered, unless switched on or off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from assay.model.error import RegistrationError
from assay.revisions.revision import Revision

DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    "tools": ("listChanged",),
    "resources": ("subscribe", "listChanged"),
    "prompts": ("listChanged",),
    "logging": (),
    "completions": (),
}
"""Capabilities and the details each may declare."""

KNOWN: Final = frozenset(DETAILS) | {
    f"{name}.{detail}" for name, details in DETAILS.items() for detail in details
}


class Features:
    def __init__(self, switches: Mapping[str, bool], registered: Mapping[str, Callable[[], bool]]) -> None:
        unknown = sorted(switches.keys() - KNOWN)
        if unknown:
            raise RegistrationError(f"unknown capability: {unknown[0]}; one of {', '.join(sorted(KNOWN))}")
        self._switches = switches
        self._registered = registered

    def has(self, name: str) -> bool:
        """Whether a capability, or a detail such as `resources.subscribe`, is on."""
        capability, _, detail = name.partition(".")
        switch = self._switches.get(capability)
        on = self._registered[capability]() if switch is None else switch
        return on and (not detail or self._switches.get(name, True))

    def declaration(self, revision: Revision, *, in_session: bool) -> dict[str, Any]:
        """The `capabilities` that the protocol knows.

        A client without a session has no stream for what a server sends on its own, so it is
        not promised any.
        """
        return {
            name: {detail: True for detail in details if in_session and self.has(f"{name}.{detail}")}
            for name, details in DETAILS.items()
            if name in revision.capabilities and self.has(name)
        }
