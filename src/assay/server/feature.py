"""Which capabilities a server declares: those it has components for, unless switched on or off."""

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
"""Capabilities, and the details that each may declare."""

KNOWN: Final = frozenset(DETAILS) | {
    f"{name}.{detail}" for name, details in DETAILS.items() for detail in details
}


class Features:
    """The capabilities of one server.

    Args:
        switches: What the author switched on or off.
        registered: For each capability, whether the server has something to offer under it.
        custom: The capabilities that custom methods declare under a revision.
    """

    def __init__(
        self,
        switches: Mapping[str, bool],
        registered: Mapping[str, Callable[[], bool]],
        custom: Callable[[Revision], dict[str, Any]],
    ) -> None:
        unknown = sorted(switches.keys() - KNOWN)
        if unknown:
            raise RegistrationError(f"unknown capability: {unknown[0]}; one of {', '.join(sorted(KNOWN))}")
        for name, switch in switches.items():
            if not isinstance(switch, bool):
                raise RegistrationError(
                    f"capability {name} is {switch!r:.40}: write True to declare it, or False to leave it out"
                )
        self._switches = switches
        self._registered = registered
        self._custom = custom

    def has(self, name: str) -> bool:
        """Whether a capability, or a detail such as `resources.subscribe`, is on."""
        capability, _, detail = name.partition(".")
        switch = self._switches.get(capability)
        on = self._registered[capability]() if switch is None else switch
        return on and (not detail or self._switches.get(name, True))

    def declaration(self, revision: Revision, *, in_session: bool) -> dict[str, Any]:
        """The `capabilities` object for a client of this revision.

        A client without a session has no stream for messages that the server starts, so none are promised.
        """
        declared = {
            name: {detail: True for detail in details if in_session and self.has(f"{name}.{detail}")}
            for name, details in DETAILS.items()
            if name in revision.capabilities and self.has(name)
        }
        return declared | self._custom(revision)
