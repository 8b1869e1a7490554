"""The transports that a server is certified for: both, unless it declares that it has only one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from assay.lab.error import InvalidOptions
from assay.lab.harness.subject.registry_entry import TRANSPORTS, profile_block
from assay.lab.target import Command, Served, Target, Url

from .scoring import SCOPE

_KINDS: Final[Mapping[type, frozenset[str]]] = {
    Command: frozenset({"stdio"}),
    Url: frozenset({"http"}),
    Served: frozenset(SCOPE),
}
"""The transports on which a kind of target is judged."""


def scope_of(targets: Sequence[Target], scope: str | None, entry: bytes | None) -> tuple[str, ...]:
    """
    Raises:
        InvalidOptions: the scope is unknown, or the targets or the registry entry contradict it.
    """
    if scope is None:
        return SCOPE
    if scope not in SCOPE:
        raise InvalidOptions(f"unknown scope: {scope}", f"one of {', '.join(SCOPE)}")
    if any(scope not in _KINDS[type(target)] for target in targets):
        problem = f"--scope {scope} is for servers without another transport, but one is given"
        raise InvalidOptions(problem, "leave out the other target, or --scope")
    if entry is not None and (others := declared_transports(entry) - {scope}):
        problem = f"the registry entry declares {', '.join(sorted(others))}, which --scope {scope} leaves out"
        raise InvalidOptions(problem, "certify the server on both, or correct the entry")
    return (scope,)


def declared_transports(entry: bytes) -> set[str]:
    """Those in the profile block of a registry entry, by the names of the scope."""
    names = {registered: str(transport) for transport, registered in TRANSPORTS.items()}
    declared = profile_block(json.loads(entry)).get("transports")
    return {names[name] for name in declared or () if name in names} if isinstance(declared, list) else set()
