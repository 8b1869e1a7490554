"""`Server[MyScope]`: a server whose messages carry a scope of the author's own class."""

from __future__ import annotations

from functools import cache
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic

from assay.model.error import INTERNAL_ERROR, MalformedMessage, RpcError
from assay.model.jsonrpc import Envelope, Outcome
from assay.protocol.scope import Scope, Send, retyped
from assay.server.dispatch.failure import log_failure

from .lifespan import Dispatch, DispatchBatch, refused

if TYPE_CHECKING:
    # Part of the stubs of every type checker, but not of Python 3.11: a type variable with a default.
    from typing_extensions import TypeVar

    S = TypeVar("S", bound=Scope, default=Scope)
else:
    from typing import TypeVar

    S = TypeVar("S", bound=Scope)


def check_scope_type(scope_type: Any, owner: type) -> None:
    """
    Raises:
        TypeError: the class is not a `Scope`.
    """
    if isinstance(scope_type, type) and not issubclass(scope_type, Scope):
        name = scope_type.__qualname__
        raise TypeError(f"{owner.__name__}[{name}]: {name} must be a subclass of assay.Scope")


@cache
def _with_scope_type(server: type, scope_type: type[Scope]) -> type:
    name = f"{server.__name__}[{scope_type.__qualname__}]"
    return type(name, (server,), {"scope_type": scope_type, "__module__": server.__module__})


class ScopeTyped(Generic[S]):
    """Base of `Server`: `Server[MyScope]` is a subclass that checks the scope of each message."""

    scope_type: type[Scope] = Scope

    if not TYPE_CHECKING:

        def __class_getitem__(cls, scope_type: Any) -> Any:
            check_scope_type(scope_type, cls)
            if isinstance(scope_type, type):
                return _with_scope_type(cls, scope_type)
            return GenericAlias(cls, scope_type)  # a type variable or a string, for type checkers

    def _check_scope(self, scope: Any) -> Scope:
        """The scope that a host passes to `handle`.

        Raises:
            TypeError: it is not of the server's class.
        """
        required = self.scope_type.__qualname__
        if scope is None:
            return _default(self.scope_type)
        if not isinstance(scope, Scope):
            raise TypeError(
                f"scope must be a {required}, not {scope!r}: write scope={required}(principal=...)"
            )
        if scope.transport == "direct" and not isinstance(scope, self.scope_type):
            raise TypeError(f"scope must be a {required}, not a {type(scope).__qualname__}")
        return scope

    def _typed(self, dispatch: Dispatch, dispatch_batch: DispatchBatch) -> tuple[Dispatch, DispatchBatch]:
        """What serves messages, with scopes of this class also from transports."""
        if self.scope_type is Scope:
            return dispatch, dispatch_batch
        typed = TypedDispatch(self.scope_type, dispatch, dispatch_batch)
        return typed.dispatch, typed.dispatch_batch


def _default(scope_type: type[Scope]) -> Scope:
    try:
        return scope_type()
    except TypeError as error:
        name = scope_type.__qualname__
        raise TypeError(f"pass scope={name}(...) with each message: {error}") from None


class TypedDispatch:
    """Converts the scope that a transport has created to the author's class."""

    def __init__(self, scope_type: type[Scope], dispatch: Dispatch, dispatch_batch: DispatchBatch) -> None:
        self._scope_type = scope_type
        self._dispatch = dispatch
        self._dispatch_batch = dispatch_batch

    async def dispatch(self, message: Envelope, send: Send | None, scope: Scope) -> Outcome | None:
        typed = self._convert(scope)
        if isinstance(typed, RpcError):
            return refused(message, typed)
        return await self._dispatch(message, send, typed)

    async def dispatch_batch(
        self, members: list[Envelope | MalformedMessage], send: Send | None, scope: Scope
    ) -> list[Outcome]:
        typed = self._convert(scope)
        if not isinstance(typed, RpcError):
            return await self._dispatch_batch(members, send, typed)
        outcomes = [refused(member, typed) for member in members]
        return [outcome for outcome in outcomes if outcome is not None]

    def _convert(self, scope: Scope) -> Scope | RpcError:
        if isinstance(scope, self._scope_type):
            return scope
        try:
            return retyped(scope, self._scope_type)
        except TypeError as error:
            name = self._scope_type.__qualname__
            problem = TypeError(
                f'a message over {scope.transport} has no {name} ({error}): put one under "assay" into the '
                "ASGI scope, or give its fields defaults"
            )
            log_failure(f"Server[{name}]", problem)
            return RpcError(INTERNAL_ERROR, "internal error")
