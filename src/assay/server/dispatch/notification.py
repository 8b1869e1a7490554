"""Handlers for notifications of clients, besides what the server itself does with these."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, Final

import msgspec
from msgspec import Raw

from assay.model.error import RegistrationError, RpcError
from assay.model.jsonrpc import Envelope
from assay.model.visible import visible_record
from assay.protocol.byte_budget import ByteBudget
from assay.protocol.codec import decode_params
from assay.protocol.lifecycle import State
from assay.protocol.middleware import Ending
from assay.protocol.scope import Scope, Send
from assay.protocol.session import Peer, Session
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening
from assay.server.calls.call import Call, EndedEarly
from assay.server.calls.current_call import CurrentCall
from assay.server.components.custom_method import NAME
from assay.server.components.required_scope import PROTOCOL_METHODS
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.signature import read_signature
from assay.server.types.custom_type import write_custom
from assay.server.types.reading import AS_JSON

from .failure import log_failure
from .services import Services

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

PROTOCOL: Final = frozenset[str]().union(*(revision.notifications for revision in REVISIONS))
MOST_PENDING: Final = 1024
"""Handlers of notifications that run or wait, in one server. A client does not wait for them, so that nothing
else slows it down."""
MOST_PENDING_OF_CLIENT: Final = 256

_encode: Final = msgspec.json.Encoder(enc_hook=write_custom).encode


def check_method(method: Any) -> None:
    """
    Raises:
        ValueError: it cannot be the name of a notification.
    """
    if not isinstance(method, str) or len(method) > 128 or not NAME.fullmatch(method):
        text = method[:128] if isinstance(method, str) else method
        raise ValueError(f"invalid name of a notification: {text!r}; expected one such as `orders/changed`")
    if method in PROTOCOL_METHODS or method.startswith("rpc."):
        raise ValueError(f"{method} is not a notification: choose another name, such as `orders/changed`")


def encode_params(method: str, params: Any) -> Raw:
    """
    Raises:
        TypeError: the parameters are not an object, or cannot be written as JSON.
    """
    try:
        encoded = _encode({} if params is None else params)
    except (TypeError, NotImplementedError, UnicodeEncodeError) as error:
        raise TypeError(f"parameters of {method} cannot be written as JSON: {error}") from None
    if not encoded.startswith(b"{"):
        kind = type(params).__qualname__
        raise TypeError(f"parameters of {method} must be an object such as a dict or dataclass, not {kind}")
    return Raw(encoded)


class NotificationId:
    """What the call of a notification has instead of an id: clients cannot name it."""


class NotificationCall(Call):
    """One notification while a handler observes it. What the handler sends belongs to no request."""

    def __init__(self, services: Services, message: Envelope, peer: Peer, scope: Scope) -> None:
        super().__init__(services, message, peer, scope, _sender(scope.session, peer))
        self.id = NotificationId()  # type: ignore[assignment]


def _sender(session: Session | None, peer: Peer) -> Send | None:
    """Sends outside of requests, in revisions that allow this."""
    if session is None or peer.revision.opening is not Opening.HANDSHAKE:
        return None

    async def send(data: bytes) -> None:
        session.post(data)

    return send


class NotificationHandler:
    """A function that observes a notification; its parameters are those of the notification."""

    __slots__ = ("_decode", "_invoke", "name")

    def __init__(self, method: str, function: Callable[..., Any], limit: ConcurrencyLimit) -> None:
        signature = read_signature(function)
        self.name = f"notification {method}: {signature.name}"
        # Open: every notification may have a `_meta`, and newer clients may send more parameters.
        self._decode = signature.arguments().reader(AS_JSON, closed=False)
        self._invoke = make_invocable(function, signature, (limit,))

    async def run(self, call: Call) -> None:
        """Run the function. Nothing is answered, so that every exception ends here, in the log."""
        try:
            params = decode_params(call.params, self._decode)
            with CurrentCall(call):
                await self._invoke(msgspec.structs.asdict(params), call)
        except BaseException as error:
            if not isinstance(error, Exception) and call.ending_of(error) is Ending.CANCELLED:
                raise
            self._log(error)
        finally:
            call.finished = True

    def _log(self, error: BaseException) -> None:
        if isinstance(error, RpcError | EndedEarly):
            logger.info("%s did not run to its end: %s", self.name, error)
        else:
            log_failure(self.name, error)


class Notifications:
    """All handlers of a server."""

    def __init__(self, limit: ConcurrencyLimit, budget: ByteBudget) -> None:
        self.by_method: dict[str, tuple[NotificationHandler, ...]] = {}
        self._limit = limit
        self._budget = budget
        self._pending: Counter[Hashable] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._warned = False

    def add(self, method: str, function: Callable[..., Any]) -> None:
        """
        Raises:
            RegistrationError: the method or the function is invalid.
        """
        try:
            check_method(method)
        except ValueError as error:
            raise RegistrationError(str(error)) from None
        handler = NotificationHandler(method, function, self._limit)
        self.by_method[method] = (*self.by_method.get(method, ()), handler)

    def begin(self, message: Envelope, peer: Peer, scope: Scope, services: Services) -> None:
        """Start the handlers of a notification, each in a task."""
        method = str(message.method)
        if not _is_observed(method, peer, scope.session):
            return
        client = scope.client_key
        for handler in self.by_method.get(method, ()):
            call = NotificationCall(services, message, peer, scope)
            if self._is_full(client) or not self._start(handler, call, client):
                self._warn(handler)

    def _is_full(self, client: Hashable) -> bool:
        return len(self._tasks) >= MOST_PENDING or self._pending[client] >= MOST_PENDING_OF_CLIENT

    def _start(self, handler: NotificationHandler, call: Call, client: Hashable) -> bool:
        share = self._budget.share(client)
        if not share.resize(len(memoryview(call.params))):
            return False
        task = asyncio.get_running_loop().create_task(handler.run(call))
        self._tasks.add(task)
        self._pending[client] += 1

        def finished(task: asyncio.Task[None]) -> None:
            share.release()
            self._tasks.discard(task)
            self._pending[client] -= 1
            if not self._pending[client]:
                del self._pending[client]

        task.add_done_callback(finished)
        return True

    def _warn(self, handler: NotificationHandler) -> None:
        if not self._warned:
            self._warned = True
            logger.warning("%s is not called while too many notifications are handled", handler.name)


def _is_observed(method: str, peer: Peer, session: Session | None) -> bool:
    """Whether the client may send this notification: it is the author's own or one of its revision, and the
    client has introduced itself."""
    if method in PROTOCOL and method not in peer.revision.notifications:
        return False
    return session is None or session.state is not State.FRESH or peer is not session.peer
