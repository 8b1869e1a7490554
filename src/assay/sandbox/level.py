"""Levels of isolation, and the ways to have them: the strongest that the host allows is used, and named."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from assay.sandbox.launch.plan import NAMESPACES, Plan, Protection

_ALWAYS: Final = frozenset(
    {
        *(Protection.USER, Protection.NO_NEW_PRIVILEGES, Protection.LIMITS),
        *(Protection.ENVIRONMENT, Protection.DESCRIPTORS),
    }
)


class Level(StrEnum):
    L0 = "L0"
    """Nothing. No command runs a server at this level when a sandbox was asked for."""
    L1 = "L1"
    """Another user without capabilities, no new privileges, limits. The network and files stay open."""
    L2 = "L2"
    """No network, files by name, a filter on system calls."""
    L3 = "L3"
    """The same twice over: namespaces, landlock and seccomp; limits hold for all processes together."""


class Rung(NamedTuple):
    """A way to have a level."""

    level: Level
    backend: str
    protections: frozenset[Protection]
    user_namespace: bool
    needs_group: bool
    needs_landlock: bool

    def applies(self, protection: Protection) -> bool:
        return protection in self.protections

    def applied_to(self, plan: Plan) -> Plan:
        return plan._replace(
            protections=self.protections,
            user_namespace=self.user_namespace,
            needs_group=self.needs_group,
            relay=plan.relay if self.applies(Protection.NETWORK) else "",
        )


_FILTERED: Final = _ALWAYS | {Protection.SECCOMP, Protection.LANDLOCK}
LADDER: Final = (
    Rung(Level.L3, "namespaces", _FILTERED | {*NAMESPACES}, True, True, False),
    Rung(Level.L2, "namespaces", _FILTERED | {*NAMESPACES}, True, False, False),
    Rung(Level.L2, "landlock", _FILTERED, False, False, True),
    Rung(Level.L1, "rlimits", _ALWAYS, False, False, False),
)
"""From the strongest down."""
WEAKEST: Final = Level.L2
"""Without a level in the options: less than this leaves the network open."""


def rungs(at_least: Level | None) -> tuple[Rung, ...]:
    least = at_least or WEAKEST
    return tuple(rung for rung in LADDER if rung.level >= least)
