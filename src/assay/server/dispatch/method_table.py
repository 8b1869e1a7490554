"""Which methods a server has under each revision, behind their scopes and inside its middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from types import MethodType
from typing import Any

from assay.model.error import METHOD_NOT_FOUND, RpcError
from assay.protocol.declaration import unsupported
from assay.protocol.middleware import Middleware, Serve
from assay.revisions.revision import Revision
from assay.revisions.served import EVERY, Served
from assay.server.calls.call import Call
from assay.server.calls.current_call import TRACKING, tracked
from assay.server.components.component import Components
from assay.server.extensions.joined import Extensions
from assay.server.feature import Features

from .protocol_method import METHODS, ProtocolMethods

MethodTable = dict[str, Serve]


class MethodTables(dict[Revision, MethodTable]):
    """The methods of each revision by name. A table is built at its first use; `clear` discards all of them
    when something was registered."""

    served = EVERY
    """The revisions that are served."""
    middlewares: tuple[Middleware, ...] = ()
    """What wraps the methods, the outermost first."""

    def __init__(
        self,
        methods: ProtocolMethods,
        components: Components,
        features: Features,
        method_scopes: Mapping[str, Sequence[str]],
        extensions: Extensions,
    ) -> None:
        super().__init__()
        self._methods = methods
        self._components = components
        self._features = features
        self._method_scopes = method_scopes
        self._extensions = extensions
        TRACKING.join(self)

    def __missing__(self, revision: Revision) -> MethodTable:
        table = self[revision] = self._build(revision)
        return table

    def _build(self, revision: Revision) -> MethodTable:
        if revision.date not in self.served.by_date:
            return self._build_unserved(revision)
        table = {
            name: self._guard(
                name, MethodType(method.serve, self._methods), self._method_scopes.get(name, ())
            )
            for name, method in METHODS.items()
            if name in revision.requests and (method.feature is None or self._features.has(method.feature))
        }
        for name, serve in self._extensions.methods(revision).items():
            table[name] = self._guard(name, serve, self._method_scopes.get(name, ()))
        for custom in self._components.custom_methods.of(revision):
            table[custom.name] = self._guard(custom.name, custom.gated_serve, custom.scopes)
        return {
            name: self._extensions.wrap(name, self._wrap(name, serve), revision)
            for name, serve in table.items()
        }

    def _build_unserved(self, revision: Revision) -> MethodTable:
        """The table of a revision that is not served: a client of it can only negotiate another one."""
        opens = "initialize" in revision.requests
        return {"initialize": self._wrap("initialize", self._methods.initialize)} if opens else {}

    def serve_only(self, served: Served) -> None:
        self.served = served
        self.clear()

    def _guard(self, method: str, serve: Serve, required: Sequence[str]) -> Serve:
        """Require scopes before a method is served."""

        def serve_if_granted(call: Call) -> Awaitable[Any]:
            granted = call.scope.scopes
            if granted is not None and not granted.issuperset(required):
                # One challenge names all scopes that the request needs, so that one authorization suffices.
                call.require((*required, *self._components.scopes_of_target(method, call.params)))
            call.require(required)
            return serve(call)

        return serve_if_granted if required else serve

    def _wrap(self, method: str, serve: Serve) -> Serve:
        for middleware in reversed(self.middlewares):
            serve = middleware.wrap(method, serve)
        return tracked(serve)

    def use(self, middleware: Middleware) -> None:
        self.middlewares = (*self.middlewares, middleware)
        self.clear()

    def clear(self) -> None:
        super().clear()
        self.report(None)

    def report(self, uri: str | None) -> None:
        """Report a change to the middleware: the URI of a resource; without one, a registration."""
        for middleware in self.middlewares:
            middleware.changed(uri)

    def unknown(self, method: str) -> Serve:
        """Refuses a method that does not exist, in this revision or at all. Middleware sees them, too."""

        async def refuse(call: Call) -> Any:
            revision = call.peer.revision
            if revision.date not in self.served.by_date:
                raise unsupported(revision.date, self.served)
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")

        return self._wrap(method, refuse)
