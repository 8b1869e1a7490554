"""What every saboteur has, whichever part it plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from assay.lab.harness.naming import id_of
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.revisions.revision import Revision


class Fault(Struct, frozen=True):
    id: str
    fault: str
    breaks: str
    """The requirement that a check must cite to have caught it."""
    transports: frozenset[Transport] = HTTP_ONLY
    window: Callable[[Revision], bool] = lambda revision: True
    scenario: str | None = None
    """Where to look, if not in the scenarios that exercise the checks citing the requirement."""

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]


F = TypeVar("F", bound=Fault)


def maker(kind: type[F], hook: str, usual: frozenset[Transport]) -> Callable[..., Callable[[Any], F]]:
    """The decorator that turns a function for that hook into a saboteur."""

    def decorated(fault: str, *, breaks: str, id: str = "", **options: Any) -> Callable[[Any], F]:
        def made(function: Any) -> F:
            given = {"transports": usual, **options, hook: function}
            return kind(id=id or id_of(function), fault=fault, breaks=breaks, **given)

        return made

    return decorated
