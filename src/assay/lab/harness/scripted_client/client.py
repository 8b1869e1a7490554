"""The client: a scripted client of the lab's own, which takes the steps that it is told to take.

A fault meets it in one place for each hook: messages in `mouth.py`, what it hears in `ears.py`, HTTP
requests in `web.py`, lines in `stdio_carrier.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import count
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_server.client import Invitation
from assay.lab.harness.transport import Transport
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening, Revision

from .answer import Answers
from .behaviour import ClientBehaviour
from .cache import Cache
from .failure import Broken, Failed, Refusal, SessionLost
from .http_transport import HttpClientTransport
from .input_round import asks, respond
from .notification import ReceivedNotifications
from .opening import DISCOVER, open_guest, retry_version
from .receiver import MessageReceiver
from .sender import MessageSender, id_of
from .stdio_transport import StdioClientTransport
from .step import STEPS
from .subscription import Subscription
from .transport import Call, ClientTransport, Json
from .wallet import wallet_for
from .web import Response
from .websocket_transport import WebSocketClientTransport

if TYPE_CHECKING:
    from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur

MOST_ROUNDS: Final = 10
MOST_TRIES: Final = 3
MOST_LIVES: Final = 4
"""How often it starts a server, or connects, before it believes that this leads nowhere."""
GRACE: Final = 0.3
"""Seconds that responses have to end after their answers, once the client wants to leave."""
_CARRIERS: Final[dict[Transport, Callable[[ScriptedClient], ClientTransport]]] = {
    Transport.HTTP: HttpClientTransport,
    Transport.STDIO: StdioClientTransport,
    Transport.WEBSOCKET: WebSocketClientTransport,
}


class ScriptedClient:
    fault: BaseException | None = None
    """The first error in what nobody waits for: a fault of the lab, and no failure."""

    def __init__(
        self,
        invitation: Invitation,
        transport: Transport,
        saboteur: ClientSaboteur | None = None,
        habits: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.invitation = invitation
        self.transport = transport
        self.saboteur = saboteur
        self.behaviour = ClientBehaviour(**{**habits, **(saboteur.behaviour if saboteur else {})})
        self.revision: Revision = BY_DATE[invitation.revision]
        self.context: Json = deepcopy(invitation.context)  # as a process would have it: its own
        self.agreed: str | None = None
        """The version of the handshake."""
        self.server: Json = {}
        """What the server says of itself."""
        self.meta: Json = {}
        """In `_meta` of each request from now on."""
        self.memory: Json = {}
        """For the fault's own use."""
        self.tools: dict[str, Json] = {}
        self.dropped: dict[str, str] = {}
        """Tools that were left out, and why."""
        self.skills: dict[str, Json] = {}
        self.cursors: dict[str, Any] = {}
        """The last cursor that each list gave."""
        self.said: list[str] = []
        """For standard error."""
        self.answers = Answers(self, self.context)
        self.cache = Cache()
        self.heard = ReceivedNotifications()
        self.mouth = MessageSender(self)
        self.ears = MessageReceiver(self)
        self.hear = self.ears.hear
        self.carrier: ClientTransport = _CARRIERS[transport](self)
        self.wallet = wallet_for(self)
        self._ids = count(1)
        self._trace = token_hex(16)
        self._tasks: set[asyncio.Task[Any]] = set()
        self.subscriptions: list[Subscription] = []
        self._renewing = asyncio.Lock()
        self._leaving = False
        self._life = 0
        """How often it has begun."""

    # -- its life ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """
        Raises:
            Failed: something that it was asked to do went wrong.
        """
        try:
            if self.saboteur is not None and self.saboteur.behave is not None:
                await self.saboteur.behave(self)
            else:
                await self.open()
                await self.play(self.context.get("steps", []))
                await self.answers.leave()
        finally:
            await self.close()
        if self.fault is not None:
            raise self.fault

    async def open(self) -> None:
        self._life += 1
        await self.carrier.open()
        await open_guest(self)

    async def play(self, steps: Sequence[Json]) -> None:
        for step in steps:
            arguments = {key: value for key, value in step.items() if key not in ("do", "may_fail")}
            act = STEPS.get(step["do"])
            if act is None:
                raise Failed(f"there is no step {step['do']}")
            try:
                await act(self, **arguments)
            except Failed as reason:
                if not step.get("may_fail"):
                    raise
                self.say(f"{step['do']} failed, as it may: {reason}")

    async def close(self) -> None:
        self._leaving = True
        for one in self.subscriptions:
            with suppress(Failed):
                await one.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE)
        await self.abandon()
        await self.carrier.close()

    async def abandon(self) -> None:
        """End whatever is still under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def say(self, line: str) -> None:
        self.said.append(line)

    # -- authorization -----------------------------------------------------------------------------------

    async def authorize(self, challenge: Response) -> None:
        """Called wherever the endpoint answers that it does not let the client in.

        Raises:
            Failed: nothing can be done about it.
        """
        await self.wallet.authorize(challenge)
        self.cache = Cache()  # what was kept was for another token

    def bear(self, request: Request) -> None:
        """Put credentials into a request to the endpoint."""
        self.wallet.bear(request)

    # -- asking ------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Json | None = None, *, timeout: float | None = None) -> Json:
        """The result, once all questions on the way to it are answered.

        Raises:
            Refusal: the answer is an error.
            Failed: there is no answer, or none that makes sense.
            TimeoutError: it did not come within the time that was given.
        """
        params = params or {}
        caches = self.behaviour.caches and method in self.revision.cacheable
        if caches and (kept := self.cache.get(method, params)) is not None:
            return kept
        given = params
        for _ in range(MOST_ROUNDS):
            result = await self._insist(method, given, timeout)
            if not asks(self, result):
                if caches and given is params:
                    self.cache.keep(method, params, result)
                return result
            given = {**params, **await respond(self, result)}
        raise Failed(f"{method}: the server never stops asking")

    async def _insist(self, method: str, params: Json, timeout: float | None) -> Json:
        """Ask again where that is the rule: a lost session, a broken stream, a version that is not served."""
        for tries in range(1, MOST_TRIES + 1):
            life = self._life
            try:
                return self._checked(method, await self.ask(method, params, timeout=timeout))
            except SessionLost:
                if method == "initialize" or tries == MOST_TRIES:
                    raise
                await self._begin_again(life)
                if "cursor" in params and self.behaviour.forgets_cursors:
                    raise  # the cursor went with the session: the list is read from its beginning
            except Broken:
                if tries == MOST_TRIES or not self._reissues or self._is_mending(method):
                    raise
                await self._mend(life)
            except Refusal as refusal:
                if tries == MOST_TRIES or not retry_version(self, refusal):
                    raise
        raise AssertionError("the last try returns or raises")

    @property
    def _reissues(self) -> bool:
        return self.behaviour.reissues and self.revision.opening is Opening.PER_REQUEST

    async def _begin_again(self, life: int) -> None:
        """A new session, unless another request has seen to it."""
        async with self._renewing:
            if life == self._life:
                if isinstance(self.carrier, HttpClientTransport):
                    self.carrier.session = None
                self.agreed = None
                await self.open()

    def _is_mending(self, method: str) -> bool:
        """Whether the request is itself part of a new beginning, which would wait for its own end."""
        return method == DISCOVER and self._renewing.locked()

    def lost(self) -> None:
        """The server hung up without being asked to, or its process ended."""
        if self._reissues and not self._leaving:
            self.task(self._mend(self._life))

    async def _mend(self, life: int) -> None:
        """A new connection with what was open on the old one, where there is such a thing."""
        if self.transport is Transport.HTTP or not self.behaviour.restarts:
            return
        async with self._renewing:
            if life == self._life and life < MOST_LIVES:
                await self.open()
                for one in self.subscriptions:
                    await one.open()

    def _checked(self, method: str, answer: Json) -> Json:
        if "error" in answer:
            raise Refusal(method, answer["error"])
        result = answer.get("result")
        if not isinstance(result, dict):
            raise Failed(f"the answer to {method} holds neither a result nor an error")
        kind = result.get("resultType", "complete")
        typed = self.revision.opening is Opening.PER_REQUEST and self.behaviour.knows_result_types
        if typed and kind not in ("complete", "input_required"):
            raise Failed(f"the answer to {method} is of an unknown kind: {kind}")
        return result

    async def ask(
        self,
        method: str,
        params: Json,
        *,
        timeout: float | None,
        told: Callable[[Any], None] = lambda name: None,
    ) -> Json:
        """One request and its whole answer; `told` is given the id. A subscription has no end of its own."""
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        message["params"] = self._described(method, params, message["id"])
        items = self.mouth.altered(message)
        limit = None if method == "subscriptions/listen" else timeout or self.behaviour.patience
        call = Call(id_of(items, message), method, asyncio.get_running_loop().create_future(), limit)
        told(call.id)
        self.ears.expect(call)
        sending = self.task(self.mouth.speak(items, call))
        try:
            async with asyncio.timeout(limit) as call.clock:
                return await self._answer(call, sending)
        except TimeoutError:
            call.clock = None
            await self._give_up(call, sending)
            if timeout is None:
                raise Failed(f"no answer to {method} within {limit} s") from None
            raise
        finally:
            call.clock = None
            self.ears.forget(call)
            if not call.answer.done():
                call.answer.cancel()
                sending.cancel()

    def _described(self, method: str, params: Json, number: Any) -> Json:
        meta = {**self.meta, **params.get("_meta", {})}
        if method == "tools/call" and self.behaviour.asks_for_progress:
            meta.setdefault("progressToken", f"progress-{number}")
        if self.revision.opening is Opening.PER_REQUEST and self.behaviour.traces:
            meta.setdefault("traceparent", f"00-{self._trace}-{token_hex(8)}-01")
        given = {**params, "_meta": meta} if meta else params
        described: Json = declared(self.revision, given, self.answers.capabilities)
        return described

    async def _answer(self, call: Call, sending: asyncio.Task[None]) -> Json:
        either: tuple[asyncio.Future[Any], ...] = (sending, call.answer)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not call.answer.done():
            sending.result()  # raises where no answer can come
        return await call.answer

    async def _give_up(self, call: Call, sending: asyncio.Task[None]) -> None:
        """Stop waiting, and say so; a handshake is not cancelled."""
        if not self.behaviour.cancels or call.method == "initialize":
            return
        if not self.hangs_up:
            about = {"requestId": call.id, "reason": "it took too long"}
            await self.notify("notifications/cancelled", about)
        sending.cancel()

    @property
    def hangs_up(self) -> bool:
        """Whether a request is cancelled by closing its stream."""
        return self.transport is Transport.HTTP and self.revision.http.disconnect_cancels

    async def notify(self, method: str, params: Json | None = None) -> None:
        """That a notification is not taken is no reason to end."""
        message: Json = {"jsonrpc": "2.0", "method": method}
        try:
            await self.send(message if params is None else {**message, "params": params})
        except Failed as reason:
            self.say(f"{method} was not taken: {reason}")

    async def send(self, message: Json) -> None:
        """Any message that waits for no answer."""
        await self.mouth.speak(self.mouth.altered(message), None)

    def task(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Failed | TimeoutError):
            self.fault = self.fault or error

    # -- subscriptions -----------------------------------------------------------------------------------

    async def listen(self, wanted: Json) -> None:
        one = Subscription(self, wanted)
        self.subscriptions.append(one)
        await one.open()

    async def stop_listening(self, wanted: Json) -> None:
        for one in [one for one in self.subscriptions if one.wanted == wanted]:
            self.subscriptions.remove(one)
            await one.close()
