"""Adding middleware to a server: `use` and its decorator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from assay.protocol.middleware import Middleware
from assay.revisions.registry import REVISIONS
from assay.server.components.required_scope import PROTOCOL_METHODS

if TYPE_CHECKING:
    from assay.model.listing import PromptList, ResourceList, TemplateList, ToolList
    from assay.model.result import CompleteResult, PromptResult, ReadResult, ToolResult
    from assay.server.components.custom_method import CustomMethods
    from assay.server.dispatch.method_table import MethodTables

    from .call import MiddlewareCall, MiddlewareFunction, Next, Result

    F = TypeVar("F", bound=Callable[[MiddlewareCall, Next[Result]], Awaitable[Result]])
    CallF = TypeVar("CallF", bound=Callable[[MiddlewareCall, Next[ToolResult]], Awaitable[ToolResult]])
    PromptF = TypeVar(
        "PromptF", bound=Callable[[MiddlewareCall, Next[PromptResult]], Awaitable[PromptResult]]
    )
    ReadF = TypeVar("ReadF", bound=Callable[[MiddlewareCall, Next[ReadResult]], Awaitable[ReadResult]])
    CompleteF = TypeVar(
        "CompleteF", bound=Callable[[MiddlewareCall, Next[CompleteResult]], Awaitable[CompleteResult]]
    )
    ToolsF = TypeVar("ToolsF", bound=Callable[[MiddlewareCall, Next[ToolList]], Awaitable[ToolList]])
    ResourcesF = TypeVar(
        "ResourcesF", bound=Callable[[MiddlewareCall, Next[ResourceList]], Awaitable[ResourceList]]
    )
    TemplatesF = TypeVar(
        "TemplatesF", bound=Callable[[MiddlewareCall, Next[TemplateList]], Awaitable[TemplateList]]
    )
    PromptsF = TypeVar("PromptsF", bound=Callable[[MiddlewareCall, Next[PromptList]], Awaitable[PromptList]])


class MiddlewareRegistration:
    """Base of `Server`."""

    custom_methods: CustomMethods
    tables: MethodTables

    @property
    def middlewares(self) -> tuple[Middleware, ...]:
        """What wraps the methods, the outermost first; see `use`."""
        return self.tables.middlewares

    def use(
        self, middleware: Middleware | MiddlewareFunction[Any], *, methods: Collection[str] | None = None
    ) -> None:
        """Add middleware, such as `assay.middleware.RateLimit(10)`, around all methods or some.

        It sees each request before it is served, and its result or exception after. What was added first is
        outermost. `middleware` is the decorator for a function.

        Args:
            middleware: A coroutine function of the call and `next`, an object that is called like one, or a
                `Middleware`.
            methods: The methods to wrap, such as `["tools/call"]`; by default all.

        Raises:
            RegistrationError: it cannot be middleware, or a method does not exist.
        """
        # Imported here: most servers have none.
        from .adapter import FunctionMiddleware, SelectedMiddleware
        from .check import check_methods, check_middleware, name_of, wraps_itself

        check_middleware(middleware)
        name = name_of(middleware)
        selected = None if methods is None else check_methods(methods, self._methods(), f"middleware {name}")
        if isinstance(middleware, Middleware) and (wraps_itself(middleware) or not callable(middleware)):
            added = middleware if selected is None else SelectedMiddleware(middleware, selected)
        else:
            added = FunctionMiddleware(middleware, name, selected)
        added.join(self)  # type: ignore[arg-type]
        self.tables.use(added)

    def _methods(self) -> set[str]:
        custom = (method.name for revision in REVISIONS for method in self.custom_methods.of(revision))
        return {*PROTOCOL_METHODS, *custom}

    # The name of a method decides the type of its result; any other text is a custom method, or several.
    @overload
    def middleware(self, function: F, /) -> F: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["tools/call"], /
    ) -> Callable[[CallF], CallF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["prompts/get"], /
    ) -> Callable[[PromptF], PromptF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["resources/read"], /
    ) -> Callable[[ReadF], ReadF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["completion/complete"], /
    ) -> Callable[[CompleteF], CompleteF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["tools/list"], /
    ) -> Callable[[ToolsF], ToolsF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["resources/list"], /
    ) -> Callable[[ResourcesF], ResourcesF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["resources/templates/list"], /
    ) -> Callable[[TemplatesF], TemplatesF]: ...
    @overload
    def middleware(  # type: ignore[overload-overlap]
        self, method: Literal["prompts/list"], /
    ) -> Callable[[PromptsF], PromptsF]: ...
    @overload
    def middleware(self, /, *methods: str) -> Callable[[F], F]: ...
    def middleware(self, /, *arguments: Any) -> Any:
        """Register a coroutine function that serves requests with the help of the rest of the server.

            @server.middleware
            async def timing(call: MiddlewareCall, next: Next[Result]) -> Result:
                begin = time.perf_counter()
                try:
                    return await next(call)
                finally:
                    print(call.method, call.name, time.perf_counter() - begin)

        It returns the result of `next(call)` or another one, and may raise what handlers raise. With names of
        methods, `@server.middleware("tools/call")`, it sees only their requests. What was registered first is
        outermost.

        Raises:
            RegistrationError: the function is not a coroutine function of two parameters, or a method does
                not exist.
        """
        if len(arguments) == 1 and not isinstance(arguments[0], str):
            self.use(arguments[0])
            return arguments[0]
        from .check import check_methods

        selected = check_methods(arguments, self._methods()) or None

        def register(function: Any) -> Any:
            self.use(function, methods=selected)
            return function

        return register
