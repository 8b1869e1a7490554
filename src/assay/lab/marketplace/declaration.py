"""How the checks of the profile are declared: each requirement is reported as a separate check."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.lab.harness.check import Check, Judge, faults
from assay.lab.harness.naming import id_of
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, Transport

BOTH = STDIO_ONLY | HTTP_ONLY
"""The profile does not cover other transports."""


def profile_check(
    title: str,
    *,
    requirements: Mapping[str, str] | tuple[str, ...],
    transports: frozenset[Transport] = BOTH,
    id: str = "",
) -> Callable[[Judge], Check]:
    """Like `check`, with one result per requirement."""

    def decorate(judge: Judge) -> Check:
        name = id or id_of(judge, "judge_")
        return Check(name, title, faults(requirements), judge, False, transports, by_requirement=True)

    return decorate
