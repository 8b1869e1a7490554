"""The extensions of one server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.model.error import RegistrationError
from assay.protocol.middleware import Serve
from assay.revisions.revision import Revision
from assay.server.calls.call import Call

from .handlers import ExtensionHandlers, ListenTopic, gated


class Extensions:
    """What serves the extensions of a server, by their names; available as `Server.extensions`."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        """Called when one has joined: method tables must be built again."""
        self._by_name: dict[str, ExtensionHandlers] = {}
        self.topics: dict[str, ListenTopic] = {}
        """What they add to the filter of `subscriptions/listen`."""

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[ExtensionHandlers]:
        return iter(tuple(self._by_name.values()))

    def join(self, handlers: ExtensionHandlers) -> None:
        """
        Raises:
            RegistrationError: the server has the extension already, or a topic of it.
        """
        name = handlers.extension.name
        if name in self._by_name:
            raise RegistrationError(f"extension {name} is already registered")
        for topic in handlers.topics:
            if topic in self.topics:
                raise RegistrationError(f"{name}: another extension has the topic {topic}")
        self._by_name[name] = handlers
        self.topics |= handlers.topics
        self._on_change()

    def methods(self, revision: Revision) -> dict[str, Serve]:
        """The methods that extensions add to a revision."""
        return {
            method: gated(each.extension, method, serve) if each.gates(method, revision) else serve
            for each in self
            for method, serve in each.methods(revision).items()
        }

    def wrap(self, method: str, serve: Serve, revision: Revision) -> Serve:
        for each in self:
            serve = each.wrap(method, serve, revision)
        return serve

    def declare(self, declared: dict[str, Any], revision: Revision, call: Call) -> dict[str, Any]:
        """Add to the capabilities that a client gets."""
        extensions = dict(declared.get("extensions", {}))
        for each in self:
            settings = each.settings(revision, call)
            if settings is not None:
                extensions[each.extension.name] = dict(settings)
            declared |= each.capabilities(revision, call)
        return declared | {"extensions": extensions} if extensions else declared
