"""How checks of the profile are declared: each row is one, and its results go by the row's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.lab.harness.check import Check, Judge, faults
from assay.lab.harness.naming import id_of
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, Transport

BOTH = STDIO_ONLY | HTTP_ONLY
"""What the profile is about; other transports are not judged by it."""


def profile_check(
    title: str, *, requirements: Mapping[str, str] | tuple[str, ...], transports: frozenset[Transport] = BOTH
) -> Callable[[Judge], Check]:
    """Make the checks of these rows of a function that judges all of them."""

    def made(judge: Judge) -> Check:
        return Check(
            id_of(judge, "judge_"),
            title,
            faults(requirements),
            judge,
            everywhere=False,
            transports=transports,
            by_requirement=True,
        )

    return made
