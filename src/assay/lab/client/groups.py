"""Groups of client scenarios: those of the official suite, and the areas."""

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
"""Official scenarios about optional features of clients."""
ALL: Final = "all"
GROUPS: Final[Mapping[str, Callable[[Scenario], bool]]] = MappingProxyType(
    {
        ALL: lambda scenario: True,
        "official": lambda scenario: scenario.official is not None,
        "core": lambda scenario: scenario.official is not None and scenario.official not in EXTENSIONS,
        "extensions": lambda scenario: scenario.official in EXTENSIONS,
    }
)


def groups(suite: Suite) -> list[str]:
    return list(dict.fromkeys((*GROUPS, *(scenario.area for scenario in suite.scenarios.values()))))


def narrowed(suite: Suite, group: str) -> Suite:
    """The suite with only the scenarios of a group or an area.

    Raises:
        KeyError: the group does not exist.
    """
    if group not in groups(suite):
        raise KeyError(group)
    belongs = GROUPS.get(group) or (lambda scenario: scenario.area == group)
    chosen = {name: scenario for name, scenario in suite.scenarios.items() if belongs(scenario)}
    return msgspec.structs.replace(suite, scenarios=chosen)
