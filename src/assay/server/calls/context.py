"""The context of a request, for the handler that serves it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import CancelledError, Future
from os import PathLike
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Final, Generic, Self

import msgspec

from assay.extensions.extension import Extension
from assay.model.definition import ClientCapabilities, Implementation
from assay.model.effect import Effect, Op, Target, digest
from assay.model.jsonrpc import RequestId
from assay.protocol.declaration import Level
from assay.protocol.scope import Scope
from assay.server.dispatch.notification import NotificationCall, check_method, encode_params

from .alias import AliasContext
from .call import Call, Cancelled

if TYPE_CHECKING:
    from random import Random

    # Part of the stubs of every type checker, but not of Python 3.11: a type variable with a default.
    from typing_extensions import TypeVar

    from assay.server.middleware.call import MiddlewareCall
    from assay.server.server import Server

    from .child_process import Completed
    from .source import Clock

    L = TypeVar("L", covariant=True, default=Any)
    S = TypeVar("S", bound=Scope, covariant=True, default=Scope)
else:
    from typing import TypeVar

    L = TypeVar("L")
    S = TypeVar("S", bound=Scope)

T = TypeVar("T")
LEVELS: Final = {
    name: severity
    for severity, name in enumerate(
        ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
    )
}
DEFAULT_LEVEL: Final = "info"
TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage")


class Context(AliasContext, Generic[L, S]):
    """Information about the current request, and ways to talk to its client while serving it.

    A handler gets one through any parameter annotated with this class:

        @server.tool
        async def resize(path: str, ctx: Context) -> str:
            await ctx.progress(1, total=2, message="reading")
            ...

    `Context[State]` names the type of `lifespan`, for type checkers; `Context[State, MyScope]` also that of
    `scope`.

    Methods that talk to the client are coroutines. A `def` handler, which runs in a thread, calls them
    through `wait`: `ctx.wait(ctx.progress(1, total=2))`.
    """

    __slots__ = ("_loop",)

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters: Any) -> GenericAlias:
            return GenericAlias(cls, parameters)  # the second parameter has a default

    def __init__(self, call: Call, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._call = call
        self._loop = asyncio.get_running_loop() if loop is None else loop

    @classmethod
    def of(cls, call: MiddlewareCall) -> Self:
        """The context of a request, for middleware: `await Context.of(call).log("info", call.name)`."""
        call.allow_questions()
        return cls(call.server_call)

    @property
    def request_id(self) -> RequestId:
        """The JSON-RPC id of the request.

        Raises:
            RuntimeError: a notification is handled, which has none.
        """
        if isinstance(self._call, NotificationCall):
            raise RuntimeError("a notification has no id")
        return self._call.id

    @property
    def scope(self) -> S:
        """How the request arrived: transport, headers, principal, and the host's `state`."""
        return self._call.scope  # type: ignore[return-value]  # the server has checked its class

    @property
    def principal(self) -> Any:
        """The authenticated caller, as established by the host or by `Server(auth=...)`; None without
        authentication."""
        return self._call.scope.principal

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes granted to the caller. None means that scopes are not checked: everything is allowed."""
        return self._call.scope.scopes

    def require(self, *scopes: str) -> None:
        """Check that the caller has been granted all of these scopes.

        For permissions that depend on the arguments; use the `scopes` parameter of the decorators for fixed
        ones. Over HTTP the client gets status 403 and a challenge, unless the response has already started.

        Raises:
            InsufficientScope: a scope is missing.
        """
        self._call.require(scopes)

    @property
    def server(self) -> Server[S]:
        """The server that handles this request."""
        server: Server[S] = self._call.services.server
        return server

    @property
    def lifespan(self) -> L:
        """What the server's lifespan function has yielded.

        Raises:
            RuntimeError: the server has no lifespan, or runs it in another event loop.
        """
        value: L = self._call.services.lifespan_value(self._loop)
        return value

    @property
    def revision(self) -> str:
        """The protocol revision of this request, as a date."""
        return self._call.peer.revision.date

    @property
    def client(self) -> Implementation | None:
        """Name and version of the client; None if it never sent them."""
        return self._call.peer.client

    @property
    def client_capabilities(self) -> ClientCapabilities:
        """The capabilities that the client declared."""
        return self._call.peer.capabilities

    def extension(self, extension: Extension) -> Mapping[str, Any] | None:
        """The settings that the client declared for an extension, often empty; None if it did not declare
        it. Send fields and notifications of an extension only to clients that did."""
        return extension.declared_by(self._call.peer.capabilities)

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities that the server declares to this client."""
        return self._call.declaration(self._call.peer.revision)

    @property
    def clock(self) -> Clock:
        """The current time: `ctx.clock.now()`. That of the system, unless `Server(sources=...)` seeds it."""
        clock: Clock = self._call.__dict__.get("clock") or self._call.__dict__.setdefault(
            "clock", self._call.services.server.sources.clock(_source_key(self._call))
        )
        return clock

    @property
    def random(self) -> Random:
        """Random numbers: `ctx.random.randint(1, 6)`. Unpredictable, unless the sources are seeded."""
        numbers: Random = self._call.__dict__.get("random") or self._call.__dict__.setdefault(
            "random", self._call.services.server.sources.random(_source_key(self._call))
        )
        return numbers

    @property
    def session(self) -> MutableMapping[str, Any]:
        """Data stored for this client between requests: `ctx.session["model"] = "small"`.

        It lasts as long as the client's session. Without a session it is stored for the principal. Values
        must be plain JSON, and reading one returns a copy. `Limits.kept_bytes` limits its size.
        """
        call = self._call
        states = call.services.client_states
        if states.stored is None or call.session is not None:
            return states.of(call.session, call.scope.principal)
        call.kept_state = states.stored.kept(call.scope.principal)
        return states.stored.mapping(call.kept_state)

    @property
    def meta(self) -> dict[str, Any]:
        """The `_meta` object of the request."""
        meta = msgspec.json.decode(self._call.raw_meta)
        return meta if isinstance(meta, dict) else {}

    @property
    def trace(self) -> dict[str, str]:
        """The W3C trace context of the request: `traceparent`, `tracestate`, `baggage`."""
        meta = self.meta
        return {name: meta[name] for name in TRACE_KEYS if isinstance(meta.get(name), str)}

    def effect(
        self,
        op: Op,
        target: str,
        *,
        kind: str = "file",
        reversible: bool | None = None,
        before: bytes | None = None,
        after: bytes | None = None,
        count: int = 1,
    ) -> None:
        """Report a side effect of this call: `ctx.effect("update", "notes/42", after=data)`. Thread-safe.

        Effects are read by middleware such as `assay.profile.Profile`; without one they are discarded.

        Args:
            op: What happened: `create`, `update`, `delete`, `send`, `execute` or `read-external`.
            target: What was affected, such as a path or a URL.
            kind: The kind of target: `file`, `db`, `http`, `queue` and so on.
            reversible: Whether the effect can be undone.
            before: The previous content. Only its digest is stored.
            after: The new content. Only its digest and length are stored.
            count: How often it happened.
        """
        size = None if after is None else len(after)
        effect = Effect(op, Target(kind, target), reversible, digest(before), digest(after), count, size)
        self._call.effect_log().append(effect)

    async def once(self, key: str, function: Callable[[], Any]) -> Any:
        """Call a function only once, even if this handler runs again.

        In revisions without server-to-client requests, a handler that asks a question runs again when the
        client has answered. Wrap side effects that come before the question:

            order = await ctx.once("order", create_order)
            confirmation = await ctx.elicit("Pay now?", Payment)

        Args:
            key: Identifies the result among those of this request.
            function: A function or coroutine function without parameters. Its result must be plain JSON: the
                client carries it between the attempts, signed but readable.
        """
        round_trips = None if self._call.retry_binding is None else self._call.open_round_trips()
        outcome = None if round_trips is None else round_trips.outcome(key)
        if outcome is not None:
            return msgspec.json.decode(outcome)
        value = function()
        if inspect.isawaitable(value):
            value = await value
        if round_trips is not None:
            round_trips.store_outcome(key, value)
        return value

    async def run(
        self,
        command: str | PathLike[str],
        *arguments: str | PathLike[str],
        cwd: str | PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        timeout: float | None = None,
        check: bool = True,
        max_bytes: int = 1024 * 1024,
    ) -> Completed:
        """Run a command: `(await ctx.run("git", "log", "-1", cwd=repository)).stdout`.

        No shell is involved. When the call is cancelled or times out, or the server stops, the command is
        ended with all processes that it has started. Its output counts as activity of the handler.

        Args:
            command: The name or path of the program.
            *arguments: Its arguments. Put `--` before arguments that come from the client.
            cwd: The directory to run it in.
            env: Its whole environment; by default that of the server.
            stdin: Its input; none by default.
            timeout: Seconds until it is ended.
            check: Raise an error if its exit code is not 0.
            max_bytes: The most it may write to standard output. Of standard error, the end is stored.

        Raises:
            ProcessError: it cannot be started, fails, or exceeds a limit. Tools may let it pass: the client
                gets the message.
        """
        from .child_process import make_command, run_command

        words = (command, *arguments)
        child = make_command(words, cwd=cwd, env=env, stdin=stdin, timeout=timeout, max_bytes=max_bytes)
        return await run_command(child, check=check, on_output=self._call.keep_alive)

    @property
    def cancelled(self) -> bool:
        """Whether the request was cancelled or timed out. Long `def` handlers should check it regularly."""
        return self._call.ended is not None

    def keep_alive(self) -> None:
        """Restart the idle timeout (`Limits.idle_timeout`). Progress and log messages do so, too."""
        self._loop.call_soon_threadsafe(self._call.keep_alive)

    def wait(self, action: Awaitable[T]) -> T:
        """Run a coroutine from a `def` handler and return its result: `ctx.wait(ctx.roots())`.

        Raises:
            Cancelled: the request was cancelled or timed out.
        """
        if self.cancelled:
            if asyncio.iscoroutine(action):
                action.close()
            raise Cancelled("cancelled")
        outcome = asyncio.run_coroutine_threadsafe(_as_coroutine(action), self._loop)
        # `setdefault` is atomic: a handler may start threads that wait, too.
        waits: set[Future[Any]] = self._call.__dict__.setdefault("blocking_waits", set())
        waits.add(outcome)
        if self.cancelled:  # it may have ended before the wait was added
            outcome.cancel()
        try:
            return outcome.result()
        except CancelledError:
            raise Cancelled("cancelled") from None
        finally:
            waits.discard(outcome)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, if the client asked for it.

        The protocol requires each value to be greater than the last one; others are not sent.

        Args:
            progress: How much is done.
            total: How much there is to do, if known.
            message: What is happening, for the user to read.
        """
        await self._call.report_progress(progress, total, message)

    async def log(self, level: Level, data: Any, *, logger: str | None = None) -> None:
        """Send a log message to the client, unless it has set a higher level or logging is off.

        Args:
            level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
            data: The message: text, or any JSON value.
            logger: The name of the logger.
        """
        if level not in LEVELS:
            hint = ": the level comes first" if isinstance(data, str) and data in LEVELS else ""
            raise ValueError(f"unknown log level: {level!r}; one of {', '.join(LEVELS)}{hint}")
        peer = self._call.peer
        unwanted = peer.revision.logs_on_demand and peer.log_level is None
        threshold = peer.log_level or DEFAULT_LEVEL
        features = self._call.services.features
        if unwanted or LEVELS[level] < LEVELS[threshold] or not features.has("logging"):
            return self._call.keep_alive()
        params = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        return await self._call.notify("notifications/message", params)

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification of your own to the client: `await ctx.notify("orders/changed", {"id": 3})`.

        It belongs to this request, and is discarded once that has ended, or where only the answer can be
        sent. Use `log` and `progress` for what the protocol has notifications for.

        Args:
            method: The method of the notification.
            params: Its parameters: a mapping, dataclass or model; none by default.

        Raises:
            ValueError: the method is invalid.
            TypeError: the parameters are not an object.
        """
        check_method(method)
        await self._call.notify(method, encode_params(method, params))

    async def close_stream(self, retry: float | None = None) -> None:
        """Close the HTTP response stream early. The client reconnects after `retry` seconds for its answer.

        Does nothing on other transports, and where the stream cannot be resumed.
        """
        detach = self._call.scope.detach
        if detach is not None:
            await detach(retry)


def _source_key(call: Call) -> object:
    """What seeded sources depend on; a notification has no id."""
    return None if isinstance(call, NotificationCall) else call.id


async def _as_coroutine(action: Awaitable[T]) -> T:
    return await action
