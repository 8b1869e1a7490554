"""Scenarios about clients by group: as the official suite groups them, and by area."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.scenario import Scenario

EXTENSIONS: Final = frozenset(
    {
        "auth/client-credentials-jwt",
        "auth/client-credentials-basic",
        "auth/enterprise-managed-authorization",
        "auth/wif-jwt-bearer",
        "auth/dpop",
        "auth/dpop-nonce",
        "sep-2640-client-no-prefetch",
        "sep-2640-client-verify-digest",
        "sep-2640-client-verify-size",
        "sep-2640-client-verify-frontmatter",
    }
)
"""Official scenarios about what a client need not have."""
ALL: Final = "all"
GROUPS: Final[Mapping[str, Callable[[Scenario], bool]]] = MappingProxyType(
    {
        ALL: lambda one: True,
        "official": lambda one: one.official is not None,
        "core": lambda one: one.official is not None and one.official not in EXTENSIONS,
        "extensions": lambda one: one.official in EXTENSIONS,
    }
)


def groups(suite: Suite) -> list[str]:
    return list(dict.fromkeys((*GROUPS, *(one.area for one in suite.scenarios.values()))))


def narrowed(suite: Suite, group: str) -> Suite:
    """The suite with the scenarios of a group, or of an area.

    Raises:
        KeyError: there is no such group.
    """
    if group not in groups(suite):
        raise KeyError(group)
    belongs = GROUPS.get(group) or (lambda one: one.area == group)
    chosen = {name: one for name, one in suite.scenarios.items() if belongs(one)}
    return msgspec.structs.replace(suite, scenarios=chosen)
