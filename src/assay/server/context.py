"""What a handler can learn about its request and say to its client while it works."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec

from assay.model.answer import Elicited, Root, Sampled
from assay.model.content import Block
from assay.model.definition import ClientCapabilities, Implementation
from assay.model.effect import Effect, Op, Target, digest
from assay.model.jsonrpc import RequestId
from assay.model.result import Message
from assay.protocol.scope import Scope

from .call import Call, Cancelled
from .question import AskOptions, ask_for_input, ask_for_ping, ask_for_roots, ask_for_sample, ask_for_url
from .round_trip import open_round_trips

if TYPE_CHECKING:
    from .server import Server

T = TypeVar("T")
Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LEVELS: Final = {
    name: severity
    for severity, name in enumerate(
        ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
    )
}
DEFAULT_LEVEL: Final = "info"
TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage")


class Context:
    """Passed to every handler that has a parameter annotated with it, whatever its name.

    The methods that talk to the client are coroutines. A `def` handler, which runs in a thread,
    calls them through `wait`: `ctx.wait(ctx.progress(1, total=3))`.
    """

    __slots__ = ("_call", "_loop", "_progress")

    def __init__(self, call: Call) -> None:
        self._call = call
        self._loop = asyncio.get_running_loop()
        self._progress: float | None = None

    @property
    def request_id(self) -> RequestId:
        return self._call.id

    @property
    def scope(self) -> Scope:
        return self._call.scope

    @property
    def principal(self) -> Any:
        """Who is asking, as the host or the authorization has established; none where nobody did."""
        return self._call.scope.principal

    @property
    def scopes(self) -> frozenset[str] | None:
        """What the principal was granted; none where nobody asked, and then everything is allowed."""
        return self._call.scope.scopes

    def require(self, *scopes: str) -> None:
        """Go on only if the principal was granted all of these scopes, where that depends on more than the
        name of what is called. Before anything was sent, the client learns of it as of any such refusal.

        Raises:
            InsufficientScope: it was not.
        """
        self._call.require(scopes)

    @property
    def server(self) -> Server:
        return self._call.server

    @property
    def revision(self) -> str:
        """The protocol revision that this request is served under."""
        return self._call.peer.revision.date

    @property
    def client(self) -> Implementation | None:
        """Who the client says it is; none when it never introduced itself."""
        return self._call.peer.client

    @property
    def client_capabilities(self) -> ClientCapabilities:
        return self._call.peer.capabilities

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server declares to this client."""
        return self.server.declaration(self._call.peer.revision, self._call)

    @property
    def session(self) -> MutableMapping[str, Any]:
        """What handlers keep for this client: as long as its session lasts, and for its principal where
        there is no session. Values are plain JSON; what is read is a copy."""
        return self.server.client_states.of(self._call)

    @property
    def meta(self) -> dict[str, Any]:
        """The `_meta` of the request."""
        meta = msgspec.json.decode(self._call.raw_meta)
        return meta if isinstance(meta, dict) else {}

    @property
    def trace(self) -> dict[str, str]:
        """W3C trace context that came with the request: `traceparent`, `tracestate`, `baggage`."""
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
        """Tell what this call has done to the world: `ctx.effect("update", "notes/42", after=data)`.

        `target` is what was touched, `kind` what sort of thing that is. `before` and `after` are what it
        held: their digests are kept, nothing else. Nobody reads effects unless a layer of the server does,
        as `assay.profile`. Callable from any thread.
        """
        size = None if after is None else len(after)
        made = Effect(op, Target(kind, target), reversible, digest(before), digest(after), count, size)
        self._call.effect_log().append(made)

    async def once(self, key: str, function: Callable[[], Any]) -> Any:
        """Do something only once, although this handler may run again for each round of questions.

        The outcome travels with the client, signed but readable, so it must be plain JSON.
        """
        round_trips = None if self._call.retry_binding is None else open_round_trips(self._call)
        kept = None if round_trips is None else round_trips.outcome(key)
        if kept is not None:
            return msgspec.json.decode(kept)
        value = function()
        if inspect.isawaitable(value):
            value = await value
        if round_trips is not None:
            round_trips.keep(key, value)
        return value

    @property
    def cancelled(self) -> bool:
        """Whether the request was ended early. A `def` handler that works long should look now and then."""
        return self._call.ended is not None

    def keep_alive(self) -> None:
        """Tell that the handler is still at work: the idle time-out starts anew."""
        self._loop.call_soon_threadsafe(self._call.keep_alive)

    def wait(self, action: Awaitable[T]) -> T:
        """From a `def` handler: run one of the coroutines of this object and wait for its outcome.

        Raises:
            Cancelled: the request was ended early; nobody waits for the handler any more.
        """
        if self.cancelled:
            if asyncio.iscoroutine(action):
                action.close()
            raise Cancelled("cancelled")
        outcome = asyncio.run_coroutine_threadsafe(_as_coroutine(action), self._loop)
        # Atomic, because a handler may wait in several threads of its own.
        waits: set[Future[Any]] = self._call.__dict__.setdefault("waits", set())
        waits.add(outcome)
        if self.cancelled:  # it may have ended before the wait was known
            outcome.cancel()
        try:
            return outcome.result()
        except CancelledError:
            raise Cancelled("cancelled") from None
        finally:
            waits.discard(outcome)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, if the client asked for it. A value that does not grow is left out,
        since the protocol wants each one greater than the last."""
        token = self._call.progress_token
        if token is None or (self._progress is not None and progress <= self._progress):
            return self._call.keep_alive()
        self._progress = progress
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        return await self._call.notify("notifications/progress", params)

    async def log(self, level: Level, data: Any, *, logger: str | None = None) -> None:
        """Send a log message, unless the client set a higher level or logging is off."""
        if level not in LEVELS:
            raise ValueError(f"unknown log level: {level!r}; one of {', '.join(LEVELS)}")
        peer = self._call.peer
        unwanted = peer.revision.logs_on_demand and peer.log_level is None
        threshold = peer.log_level or DEFAULT_LEVEL
        if unwanted or LEVELS[level] < LEVELS[threshold] or not self.server.features.has("logging"):
            return self._call.keep_alive()
        params = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        return await self._call.notify("notifications/message", params)

    async def sample(
        self,
        messages: str | Block | Message | Sequence[str | Block | Message],
        *,
        max_tokens: int = 1000,
        timeout: float | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Sampled:
        """Ask the client's model. Options are those of the protocol in snake case: `system_prompt`,
        `temperature`, `model_preferences`, `stop_sequences`, `include_context`, `tools`, `tool_choice`.

        Raises:
            AskError: the client cannot be asked, or refused.
        """
        return await ask_for_sample(self._call, messages, max_tokens, options, AskOptions(timeout, key))

    async def elicit(
        self,
        message: str,
        schema: type[Any] | Mapping[str, Any],
        *,
        timeout: float | None = None,
        key: str | None = None,
    ) -> Elicited:
        """Ask the user to fill in a form: a class with plain fields, or a ready-made JSON Schema.

        Raises:
            AskError: the client cannot be asked, or answered with something that does not fit the form.
        """
        return await ask_for_input(self._call, message, schema, AskOptions(timeout, key))

    async def elicit_url(
        self, message: str, url: str, *, timeout: float | None = None, key: str | None = None
    ) -> Elicited:
        """Ask the user to open a page, for what must not pass through the client: passwords, payments.

        Raises:
            AskError: the client cannot be asked this way.
        """
        return await ask_for_url(self._call, message, url, AskOptions(timeout, key))

    async def elicitation_complete(self, elicitation_id: str) -> None:
        """Tell the client that what `elicit_url` started has come to its end; nothing where the client
        learns that by asking again."""
        if self._call.peer.revision.elicitation_ids:
            await self._call.notify("notifications/elicitation/complete", {"elicitationId": elicitation_id})

    async def roots(self, *, timeout: float | None = None, key: str | None = None) -> list[Root]:
        """The folders the client lets this server work in.

        Raises:
            AskError: the client cannot be asked.
        """
        return await ask_for_roots(self._call, AskOptions(timeout, key))

    async def ping(self, *, timeout: float | None = None) -> None:
        """Wait until the client shows that it is alive.

        Raises:
            AskError: the client cannot be asked, or did not answer in time.
        """
        await ask_for_ping(self._call, AskOptions(timeout))

    async def close_stream(self, retry: float | None = None) -> None:
        """Close the connection that waits for this answer; the client returns for it after `retry` seconds.

        Only a resumable HTTP stream is closed. Elsewhere this does nothing: the answer comes as usual.
        """
        detach = self._call.scope.detach
        if detach is not None:
            await detach(retry)


async def _as_coroutine(action: Awaitable[T]) -> T:
    return await action
