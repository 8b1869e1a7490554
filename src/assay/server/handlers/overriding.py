"""Replacing dependencies, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from assay.server.dispatch.services import Services

from .provider import make_plan, name_of


class Overriding:
    """Base of `Server`: `override` and `dependency_overrides`."""

    _services: Services

    @property
    def dependency_overrides(self) -> dict[Callable[..., Any], Callable[..., Any]]:
        """Dependency functions, and what is called instead: `server.dependency_overrides[get_user] = fake`.
        Remove the entry after the test; `override` does so itself."""
        return self._services.dependency_overrides

    @dependency_overrides.setter
    def dependency_overrides(self, overrides: dict[Callable[..., Any], Callable[..., Any]]) -> None:
        current = self._services.dependency_overrides
        changed = dict(overrides)
        current.clear()
        current.update(changed)

    @contextmanager
    def override(self, function: Callable[..., Any], replacement: Callable[..., Any]) -> Iterator[None]:
        """Call another function instead of a dependency, for tests:

            with server.override(get_database, lambda: FakeDatabase()):
                await server.tools.call("orders", {"customer": "ada"})

        The replacement may have dependencies, also the function that it replaces.

        Raises:
            TypeError: one of the two is not a function.
            RegistrationError: a parameter of the replacement cannot be filled in.
        """
        for each in (function, replacement):
            if not callable(each):
                raise TypeError(f"override takes functions, not {each!r}: for a value, write lambda: value")
        make_plan("override", {name_of(function): function}, {function: replacement})
        overrides = self._services.dependency_overrides
        before = overrides.get(function)
        overrides[function] = replacement
        try:
            yield
        finally:
            if before is None:
                overrides.pop(function, None)
            else:
                overrides[function] = before
