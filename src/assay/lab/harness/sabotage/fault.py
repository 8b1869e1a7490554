"""The common part of server and client saboteurs."""

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
    """The requirement that a check must report to catch it."""
    transports: frozenset[Transport] = HTTP_ONLY
    window: Callable[[Revision], bool] = lambda revision: True
    scenario: str | None = None
    """The scenario to run, if not those that exercise a check which cites the requirement."""

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]


F = TypeVar("F", bound=Fault)


def maker(kind: type[F], hook: str, default: frozenset[Transport]) -> Callable[..., Callable[[Any], F]]:
    """A decorator that turns a function for that hook into a saboteur on these transports."""

    def decorator(fault: str, *, breaks: str, id: str = "", **options: Any) -> Callable[[Any], F]:
        def decorate(function: Any) -> F:
            fields = {"transports": default, **options, hook: function}
            return kind(id=id or id_of(function), fault=fault, breaks=breaks, **fields)

        return decorate

    return decorator
