"""The client that users create: opens a session, keeps it usable, and closes it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec import Raw

from assay.client.auth.selection import make_authorizer
from assay.model.client_error import ClientClosed, ClientError, ConnectionFailed
from assay.model.client_limits import ClientLimits
from assay.model.definition import Implementation, ToolDefinition
from assay.model.version import VERSION
from assay.protocol.http.parameter_header import InvalidHeader, header_parameters
from assay.protocol.opening import Identity, read_revision
from assay.transport.client.port import REPEATABLE, SessionGone

from .answer import Handlers, read_roots
from .callback import Callback
from .calls import DEFAULT, Calls
from .incoming import Notices
from .listing import StaleCursor
from .log import client_logger
from .session import CallOptions, Session
from .settings import Settings
from .target import HttpOptions, link_factory

if TYPE_CHECKING:
    from assay.client.auth.selection import Auth

    from .answer import ElicitationHandler, Roots, SamplingHandler
    from .target import Target


class Client(Calls):
    """A client of one MCP server, over every transport and in every protocol revision.

        async with Client("https://example.com/mcp") as client:
            result = await client.call("add", a=1, b=2)

    Args:
        target: A `Server` in this process, a URL (http, https, ws, wss), or `Stdio("command", "argument")`.
        revision: The date of the protocol revision to use; by default the newest that both support.
        sampling: Answers `sampling/createMessage`: a function of a `SamplingRequest` that returns a `Sampled`
            or a text.
        elicitation: Answers `elicitation/create`: a function of an `ElicitationRequest` that returns the
            content of the form, `Elicited(action)`, or None to decline.
        roots: The folders that the server may work in: paths, URIs or `Root`s, or a function that returns
            them.
        on_log: Called with each `LogMessage` of the server.
        log_level: The least level of log messages; `info` by default, if there is an `on_log`.
        on_change: Called with a `Change` when a list or a resource of the server has changed.
        timeout: Seconds to wait for each answer. None waits for ever.
        headers: Headers for each HTTP request.
        auth: An access token as a text, or how to get one: `OAuth`, `ClientCredentials`,
            `WorkloadIdentity` or `EnterpriseAuth`.
        tls: Which servers to trust, and the client's certificate; by default what the system trusts.
        name: The client's name, for the server.
        version: The client's version.
        capabilities: Further capabilities to declare, such as extensions, or `{"sampling": {"tools": {}}}` if
            the sampling handler supports tools.
        limits: What a server can make the client hold or wait for; see `ClientLimits`.
        restarts: How often a server that died is started, or a lost connection opened, again. Only requests
            without an effect are sent twice.

    Handlers and callbacks may be plain or coroutine functions. Plain ones run on the event loop.

    Raises:
        TypeError, ValueError: an argument is invalid.
    """

    def __init__(
        self,
        target: Target,
        *,
        revision: str | None = None,
        sampling: SamplingHandler | None = None,
        elicitation: ElicitationHandler | None = None,
        roots: Roots | None = None,
        on_log: Callback | None = None,
        log_level: str | None = None,
        on_change: Callback | None = None,
        timeout: float | None = 60.0,
        headers: Mapping[str, str] | None = None,
        auth: Auth | None = None,
        tls: ssl.SSLContext | None = None,
        name: str = "assay",
        version: str = VERSION,
        capabilities: Mapping[str, Any] | None = None,
        limits: ClientLimits | None = None,
        restarts: int = 1,
    ) -> None:
        self.limits = limits or ClientLimits()
        self.timeout = timeout
        self._authorizer = None if auth is None else make_authorizer(auth, target, tls)
        self._make_link = link_factory(target, self.limits, HttpOptions(headers, tls, self._authorizer))
        handlers = Handlers(sampling, elicitation, read_roots(roots), capabilities or {})
        level = log_level or (None if on_log is None else "info")
        identity = Identity(Implementation(name, version), handlers.capabilities(), level)
        pinned = None if revision is None else read_revision(revision)
        notices = Notices(on_log, on_change)
        self._settings = Settings(identity, self.limits, handlers, notices, pinned)
        self._restarts = restarts
        self._session: Session | None = None
        self._opening: asyncio.Lock | None = None
        self._closing: asyncio.Task[None] | None = None
        self._retired: list[Session] = []
        """Sessions that the server has ended, with calls in progress."""

    # Life.

    async def open(self) -> Self:
        """Connect; `async with` does this.

        Raises:
            ClientError: the server cannot be reached, or has no common revision.
        """
        if self._session is not None:
            raise ClientError("the client is already open")
        self._opening, self._closing = asyncio.Lock(), None
        try:
            self._session = await self._open_session()
        except BaseException:
            if self._authorizer is not None:
                await self._authorizer.close()
            raise
        return self

    async def _open_session(self) -> Session:
        session = Session(self._make_link, self._settings)
        await session.open(self._open_timeout)
        return session

    @property
    def _open_timeout(self) -> float:
        limits = self.limits
        patience = 0.0 if self._authorizer is None else self._authorizer.patience
        return (self.timeout or 60.0) + limits.connect_timeout + limits.probe_timeout + patience

    async def close(self) -> None:
        """Close the connection, from any task, in bounded time. Calls in progress end with `ClientClosed`.
        Idempotent."""
        if self._closing is None:
            session, self._session = self._session, None
            if session is None:
                return
            self._closing = asyncio.get_running_loop().create_task(self._close([session, *self._retired]))
        # Shielded: a caller that is cancelled must not leave a process behind.
        await asyncio.shield(self._closing)

    async def _close(self, sessions: list[Session]) -> None:
        self._retired = []
        for session in sessions:
            await session.close()
        if self._authorizer is not None:
            await self._authorizer.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # What is known of the server.

    @property
    def is_open(self) -> bool:
        return self._session is not None

    @property
    def revision(self) -> str:
        """The date of the protocol revision in use."""
        return self._open_one.agreed.revision.date

    @property
    def server_info(self) -> Implementation | None:
        """The server's name and version, if it says them."""
        return self._open_one.agreed.server_info

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities that the server declares."""
        return self._open_one.agreed.capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for a model."""
        return self._open_one.agreed.instructions

    @property
    def _open_one(self) -> Session:
        if self._session is None:
            raise ClientClosed
        return self._session

    @property
    def _ping_method(self) -> str:
        return "ping" if "ping" in self._open_one.agreed.revision.requests else "server/discover"

    def _learn(self, tools: list[ToolDefinition]) -> list[ToolDefinition]:
        session = self._open_one
        if session.agreed.revision.http.mirrored is None:
            return tools
        usable = [tool for tool in tools if _has_valid_headers(tool)]
        session.learn(usable)
        return usable

    async def roots_changed(self) -> None:
        """Notify the server that the result of the `roots` function has changed. In revisions without this
        notification, the server asks when it needs the roots."""
        await self._open_one.announce_roots()

    # Requests, and sessions that end before the client does.

    async def _request(
        self,
        method: str,
        params: dict[str, Any] | None,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
    ) -> Raw:
        session = self._session
        if session is None:
            raise ClientClosed
        options = CallOptions(self.timeout if timeout is DEFAULT else timeout, progress)
        if session.is_lost:
            session = await self._replace(session)
            _check_cursor(params)
        try:
            return await session.request(method, params, options)
        except SessionGone:
            pass  # the server refused the request with its session: it had no effect
        except ConnectionFailed:
            if not session.is_lost or method not in REPEATABLE or self._restarts <= 0:
                raise
        session = await self._replace(session)
        _check_cursor(params)
        return await session.request(method, params, options)

    async def _replace(self, lost: Session) -> Session:
        """A new session instead of one that ended.

        Raises:
            ClientError: it cannot be opened, or has been opened too often.
        """
        assert self._opening is not None
        async with self._opening:
            if self._session is None:
                raise ClientClosed
            if self._session is not lost:
                return self._session  # another call was first
            if lost.is_lost:
                if self._restarts <= 0:
                    raise lost.reason
                self._restarts -= 1
                await lost.close()
            else:
                # Other calls may still get their answers.
                self._retired = [each for each in self._retired if not each.is_closed] + [lost]
                lost.spawn(lost.retire())
            session = await self._open_session()
            if self._session is None:  # closed meanwhile
                await session.close()
                raise ClientClosed
            self._session = session
            return session


def _check_cursor(params: dict[str, Any] | None) -> None:
    """Cursors are not kept across sessions (server/utilities/pagination)."""
    if params is not None and "cursor" in params:
        raise StaleCursor("the session has ended, and with it the list: read it again from its beginning")


def _has_valid_headers(tool: ToolDefinition) -> bool:
    try:
        header_parameters(tool.input_schema)
    except InvalidHeader as error:
        client_logger().warning("tool %s cannot be used: %s", tool.name, error)
        return False
    return True
