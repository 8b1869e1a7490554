"""The scripted client, which runs the steps of its context.

Each hook of a saboteur applies in one place: outgoing messages in `sender.py`, incoming messages in
`receiver.py`, HTTP requests in `web.py`, lines in `stdio_transport.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from itertools import count
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_server.client import ClientSetup
from assay.lab.harness.transport import Transport
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening, Revision

from .answer import Answers
from .behaviour import ClientBehaviour
from .cache import ResultCache
from .failure import ConnectionBroken, ErrorAnswer, SessionLost, StepFailed
from .http_transport import HttpClientTransport
from .input_round import needs_input, respond
from .notification import ReceivedNotifications
from .opening import DISCOVER, negotiate, retry_version
from .receiver import MessageReceiver
from .sender import MessageSender, id_of
from .stdio_transport import StdioClientTransport
from .step import STEPS
from .subscription import Subscription
from .transport import ClientTransport, Json, PendingCall
from .web import WebResponse
from .websocket_transport import WebSocketClientTransport

if TYPE_CHECKING:
    from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur

    from .oauth import OAuth

MOST_ROUNDS: Final = 10
MOST_TRIES: Final = 3
MOST_STARTS: Final = 4
"""How often it starts a server process, or connects, before it stops trying."""
GRACE: Final = 0.3
"""Seconds that open responses have to end when the client closes."""
_TRANSPORTS: Final[dict[Transport, Callable[[ScriptedClient], ClientTransport]]] = {
    Transport.HTTP: HttpClientTransport,
    Transport.STDIO: StdioClientTransport,
    Transport.WEBSOCKET: WebSocketClientTransport,
}


class ScriptedClient:
    fault: BaseException | None = None
    """The first error of a background task. That is a bug in the lab, not a failure of the client."""

    def __init__(
        self,
        setup: ClientSetup,
        transport: Transport,
        saboteur: ClientSaboteur | None = None,
        behaviour: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.setup = setup
        self.transport = transport
        self.saboteur = saboteur
        self.behaviour = ClientBehaviour(**{**behaviour, **(saboteur.behaviour if saboteur else {})})
        self.revision: Revision = BY_DATE[setup.revision]
        self.context: Json = deepcopy(setup.context)  # a client process would have its own copy, too
        self.agreed: str | None = None
        """The protocol version of the handshake."""
        self.server: Json = {}
        """The result of `initialize` or `server/discover`."""
        self.meta: Json = {}
        """Added to `_meta` of each later request."""
        self.memory: Json = {}
        """State of the saboteur."""
        self.tools: dict[str, Json] = {}
        self.dropped: dict[str, str] = {}
        """Tools that the client ignores, with the reason."""
        self.skills: dict[str, Json] = {}
        self.cursors: dict[str, Any] = {}
        """The last cursor of each list."""
        self.log: list[str] = []
        """The lines for standard error."""
        self.answers = Answers(self, self.context)
        self.cache = ResultCache()
        self.notifications = ReceivedNotifications()
        self.sender = MessageSender(self)
        self.receiver = MessageReceiver(self)
        self.receive = self.receiver.receive
        self.connection: ClientTransport = _TRANSPORTS[transport](self)
        self._ids = count(1)
        self._trace = token_hex(16)
        self._tasks: set[asyncio.Task[Any]] = set()
        self.subscriptions: list[Subscription] = []
        self._reopening = asyncio.Lock()
        self._closing = False
        self._starts = 0

    @cached_property
    def oauth(self) -> OAuth:
        # Imported with its first use, because judging servers must not need the extra that OAuth needs.
        from .oauth import OAuth

        return OAuth(self)

    # -- running -----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """
        Raises:
            StepFailed: a step failed.
        """
        try:
            if self.saboteur is not None and self.saboteur.behave is not None:
                await self.saboteur.behave(self)
            else:
                await self.open()
                await self.run_steps(self.context.get("steps", []))
                await self.answers.finish()
        finally:
            await self.close()
        if self.fault is not None:
            raise self.fault

    async def open(self) -> None:
        self._starts += 1
        await self.connection.open()
        await negotiate(self)

    async def run_steps(self, steps: Sequence[Json]) -> None:
        for step in steps:
            arguments = {key: value for key, value in step.items() if key not in ("do", "may_fail")}
            function = STEPS.get(step["do"])
            if function is None:
                raise StepFailed(f"unknown step {step['do']}")
            try:
                await function(self, **arguments)
            except StepFailed as reason:
                if not step.get("may_fail"):
                    raise
                self.say(f"{step['do']} failed, which is allowed: {reason}")

    async def close(self) -> None:
        self._closing = True
        for subscription in self.subscriptions:
            with suppress(StepFailed):
                await subscription.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.connection.close()

    def say(self, line: str) -> None:
        self.log.append(line)

    # -- authorization -----------------------------------------------------------------------------------

    async def authorize(self, challenge: WebResponse) -> None:
        """Get a token after the endpoint answered with a challenge.

        Raises:
            StepFailed: the client cannot get a token that may help.
        """
        await self.oauth.authorize(challenge)
        self.cache = ResultCache()  # the cached results belong to the previous token

    def add_credentials(self, request: Request) -> None:
        self.oauth.add_credentials(request)

    # -- requests ----------------------------------------------------------------------------------------

    async def request(self, method: str, params: Json | None = None, *, timeout: float | None = None) -> Json:
        """The result, once all questions on the way to it are answered.

        Raises:
            ErrorAnswer: the answer is an error.
            StepFailed: no valid answer.
            TimeoutError: no answer within `timeout`.
        """
        params = params or {}
        caches = self.behaviour.caches and method in self.revision.cacheable
        if caches and (cached := self.cache.get(method, params)) is not None:
            return cached
        current = params
        for _ in range(MOST_ROUNDS):
            result = await self._retry(method, current, timeout)
            if not needs_input(self, result):
                if caches and current is params:
                    self.cache.put(method, params, result)
                return result
            current = {**params, **await respond(self, result)}
        raise StepFailed(f"{method}: the server still requires input after {MOST_ROUNDS} rounds")

    async def _retry(self, method: str, params: Json, timeout: float | None) -> Json:
        """Send the request again after a lost session, a broken stream or an unsupported version."""
        for tries in range(1, MOST_TRIES + 1):
            start = self._starts
            try:
                return self._checked(method, await self.ask(method, params, timeout=timeout))
            except SessionLost:
                if method == "initialize" or tries == MOST_TRIES:
                    raise
                await self._renew_session(start)
                if "cursor" in params and self.behaviour.forgets_cursors:
                    raise  # the cursor belonged to the session: the caller reads the list from the start
            except ConnectionBroken:
                if tries == MOST_TRIES or not self._reissues or self._is_reopening(method):
                    raise
                await self._reconnect(start)
            except ErrorAnswer as error:
                if tries == MOST_TRIES or not retry_version(self, error):
                    raise
        raise AssertionError("the last try returns or raises")

    @property
    def _reissues(self) -> bool:
        return self.behaviour.reissues and self.revision.opening is Opening.PER_REQUEST

    async def _renew_session(self, start: int) -> None:
        """Start a new session, unless another request has done so already."""
        async with self._reopening:
            if start == self._starts:
                if isinstance(self.connection, HttpClientTransport):
                    self.connection.session = None
                self.agreed = None
                await self.open()

    def _is_reopening(self, method: str) -> bool:
        """Whether the request is part of a reconnection, which must not wait for itself."""
        return method == DISCOVER and self._reopening.locked()

    def lost(self) -> None:
        """The server closed the connection unexpectedly, or its process exited."""
        if self._reissues and not self._closing:
            self.task(self._reconnect(self._starts))

    async def _reconnect(self, start: int) -> None:
        """Open a new connection and the subscriptions of the old one. HTTP has no connection to reopen."""
        if self.transport is Transport.HTTP or not self.behaviour.restarts:
            return
        async with self._reopening:
            if start == self._starts and start < MOST_STARTS:
                await self.open()
                for subscription in self.subscriptions:
                    await subscription.open()

    def _checked(self, method: str, answer: Json) -> Json:
        if "error" in answer:
            raise ErrorAnswer(method, answer["error"])
        result = answer.get("result")
        if not isinstance(result, dict):
            raise StepFailed(f"the answer to {method} has neither a result nor an error")
        result_type = result.get("resultType", "complete")
        typed = self.revision.opening is Opening.PER_REQUEST and self.behaviour.knows_result_types
        if typed and result_type not in ("complete", "input_required"):
            raise StepFailed(f"the answer to {method} has an unknown resultType: {result_type}")
        return result

    async def ask(
        self,
        method: str,
        params: Json,
        *,
        timeout: float | None,
        on_id: Callable[[Any], None] = lambda request_id: None,
    ) -> Json:
        """Send a request and wait for its answer; `on_id` receives the request id.

        A subscription is only answered when it ends, so it has no time limit.
        """
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        message["params"] = self._with_meta(method, params, message["id"])
        items = self.sender.altered(message)
        limit = None if method == "subscriptions/listen" else timeout or self.behaviour.patience
        call = PendingCall(id_of(items, message), method, asyncio.get_running_loop().create_future(), limit)
        on_id(call.id)
        self.receiver.expect(call)
        sending = self.task(self.sender.send(items, call))
        try:
            async with asyncio.timeout(limit) as call.timeout:
                return await self._answer(call, sending)
        except TimeoutError:
            call.timeout = None
            await self._cancel(call, sending)
            if timeout is None:
                raise StepFailed(f"no answer to {method} within {limit} s") from None
            raise
        finally:
            call.timeout = None
            self.receiver.forget(call)
            if not call.answer.done():
                call.answer.cancel()
                sending.cancel()

    def _with_meta(self, method: str, params: Json, number: Any) -> Json:
        meta = {**self.meta, **params.get("_meta", {})}
        if method == "tools/call" and self.behaviour.asks_for_progress:
            meta.setdefault("progressToken", f"progress-{number}")
        if self.revision.opening is Opening.PER_REQUEST and self.behaviour.traces:
            meta.setdefault("traceparent", f"00-{self._trace}-{token_hex(8)}-01")
        complete: Json = declared(
            self.revision, {**params, "_meta": meta} if meta else params, self.answers.capabilities
        )
        return complete

    async def _answer(self, call: PendingCall, sending: asyncio.Task[None]) -> Json:
        either: tuple[asyncio.Future[Any], ...] = (sending, call.answer)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not call.answer.done():
            sending.result()  # raises if no answer can come
        return await call.answer

    async def _cancel(self, call: PendingCall, sending: asyncio.Task[None]) -> None:
        """Cancel the request after a timeout. `initialize` must not be cancelled."""
        if not self.behaviour.cancels or call.method == "initialize":
            return
        if not self.hangs_up:
            params = {"requestId": call.id, "reason": "the request timed out"}
            await self.notify("notifications/cancelled", params)
        sending.cancel()

    @property
    def hangs_up(self) -> bool:
        """Whether the client cancels a request by closing its HTTP stream."""
        return self.transport is Transport.HTTP and self.revision.http.disconnect_cancels

    async def notify(self, method: str, params: Json | None = None) -> None:
        """A failure is logged and does not end the run."""
        message: Json = {"jsonrpc": "2.0", "method": method}
        try:
            await self.send(message if params is None else {**message, "params": params})
        except StepFailed as reason:
            self.say(f"{method} was not accepted: {reason}")

    async def send(self, message: Json) -> None:
        """Send a message without waiting for an answer."""
        await self.sender.send(self.sender.altered(message), None)

    def task(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, StepFailed | TimeoutError):
            self.fault = self.fault or error

    # -- subscriptions -----------------------------------------------------------------------------------

    async def listen(self, notifications: Json) -> None:
        subscription = Subscription(self, notifications)
        self.subscriptions.append(subscription)
        await subscription.open()

    async def stop_listening(self, notifications: Json) -> None:
        for subscription in [entry for entry in self.subscriptions if entry.notifications == notifications]:
            self.subscriptions.remove(subscription)
            await subscription.close()
