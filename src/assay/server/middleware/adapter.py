"""From a coroutine function with `call` and `next` to what wraps a method: the one mechanism under both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from assay.model.content import Text
from assay.model.definition import InitializeResult
from assay.model.error import AskError, RpcError, ToolError
from assay.model.result import CompleteResult, PromptResult, ReadResult, ToolResult
from assay.protocol.coroutine import SuspendedCoroutine
from assay.protocol.http.asgi import Application
from assay.protocol.middleware import Host, Middleware, Serve
from assay.revisions.revision import Revision
from assay.server.calls.call import Call
from assay.server.results.shape import shape_messages, shape_result

from .call import MiddlewareCall

EXPECTED: Final[Mapping[str, type]] = {
    "tools/call": ToolResult,
    "prompts/get": PromptResult,
    "resources/read": ReadResult,
    "completion/complete": CompleteResult,
    "initialize": InitializeResult,
}
"""The type of a method's result. Those of other methods are mappings."""


class _Delegating(Middleware):
    """Passes on everything but `wrap`."""

    def __init__(self, hooks: Middleware, methods: Collection[str] | None) -> None:
        self._hooks = hooks
        self._methods = methods

    def join(self, server: Host, /) -> None:
        self._hooks.join(server)

    def publish(self, app: Application, /) -> Application:
        return self._hooks.publish(app)

    def changed(self, uri: str | None, /) -> None:
        self._hooks.changed(uri)


class FunctionMiddleware(_Delegating):
    """A function, or an object that is called like one, as middleware for some methods or all."""

    def __init__(self, function: Callable[..., Any], name: str, methods: Collection[str] | None) -> None:
        super().__init__(function if isinstance(function, Middleware) else Middleware(), methods)
        self._function = function
        self.name = name

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        if self._methods is not None and method not in self._methods:
            return serve
        return _begin_at_first(method, _Step(self._function, self.name, method, serve).run)


class SelectedMiddleware(_Delegating):
    """Middleware that wraps methods itself, limited to some of them."""

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        if self._methods is not None and method not in self._methods:
            return serve
        return self._hooks.wrap(method, serve)


def _begin_at_first(method: str, run: Callable[[MiddlewareCall], Any]) -> Serve:
    """Supervise all functions of a call together, at the outermost of them, once one of them suspends."""

    async def serve(call: Call) -> Any:
        if call.middleware_call is not None:
            return await run(call.middleware_call)
        call.middleware_call = MiddlewareCall(method, call)
        coroutine = run(call.middleware_call)
        try:
            try:
                waiting_for = coroutine.send(None)
            except StopIteration as returned:
                return returned.value
            return await call.supervise_all(SuspendedCoroutine(coroutine, waiting_for))
        finally:
            call.middleware_call = None  # the two refer to each other

    return serve


class _Step:
    """One function around one method."""

    __slots__ = ("_expected", "_function", "_is_tool", "_method", "_name", "_serve", "_shape")

    def __init__(self, function: Callable[..., Any], name: str, method: str, serve: Serve) -> None:
        self._function = function
        self._name = name
        self._method = method
        self._serve = serve
        self._is_tool = method == "tools/call"
        self._expected = EXPECTED.get(method, Mapping)
        as_it_is: Callable[[Any, Revision], Any] = _unshaped if method in EXPECTED else _as_dict
        self._shape = SHAPES.get(method, as_it_is)

    async def run(self, request: MiddlewareCall) -> Any:
        try:
            result = await self._function(request, self._proceed)
        except (ToolError, AskError) as error:
            if not self._is_tool or isinstance(error, RpcError):
                raise
            result = ToolResult([Text(str(error))], is_error=True)
        if not isinstance(result, self._expected):
            raise self._refuse(result)
        # Also a result that the function has replaced must fit the client's revision.
        return self._shape(result, request.server_call.peer.revision)

    async def _proceed(self, request: MiddlewareCall, /) -> Any:
        if not isinstance(request, MiddlewareCall):
            problem = f"middleware {self._name} passed {type(request).__name__} to next"
            raise TypeError(f"{problem}: write `await next(call)`")
        call = request.server_call
        if request is call.middleware_call:
            return _decoded(await self._serve(call))
        # Replaced arguments are those of the call for the rest of its way.
        before = call.params, call.decoded_params, call.middleware_call
        call.params, call.decoded_params, call.middleware_call = request.params, UNSET, request
        try:
            return _decoded(await self._serve(call))
        finally:
            call.params, call.decoded_params, call.middleware_call = before

    def _refuse(self, result: Any) -> TypeError:
        kind = "None" if result is None else type(result).__name__
        problem = f"middleware {self._name} returned {kind} for {self._method}"
        if inspect.iscoroutine(result):
            result.close()
            return TypeError(f"{problem}: write `return await next(call)`, with await")
        if result is None:
            return TypeError(f"{problem}: write `return await next(call)`, or return another result")
        return TypeError(f"{problem}: return the result of next, or a {self._expected.__name__}")


def _decoded(result: Any) -> Any:
    """The result with JSON that is already encoded as values, which middleware can read and change."""
    if type(result) is ToolResult:
        if type(result.structured) is not Raw:
            return result
        structured = msgspec.json.decode(result.structured)
        return ToolResult(result.content, structured, result.is_error, result.meta)
    return msgspec.json.decode(result) if type(result) is Raw else result


def _shape_prompt(result: PromptResult, revision: Revision) -> PromptResult:
    messages = shape_messages(result.messages, revision)
    return result if messages is result.messages else PromptResult(messages, result.description, result.meta)


def _unshaped(result: Any, revision: Revision) -> Any:
    return result


def _as_dict(result: Mapping[str, object], revision: Revision) -> dict[str, object]:
    """The only mapping that can be encoded."""
    return result if type(result) is dict else dict(result)


SHAPES: Final[Mapping[str, Callable[[Any, Revision], Any]]] = {
    "tools/call": shape_result,
    "prompts/get": _shape_prompt,
}
