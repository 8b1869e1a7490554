"""The client that users create."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from assay.model.client_error import ClientClosed, ClientError, ConnectionFailed, HttpFailure
from assay.model.client_limits import ClientLimits
from assay.model.definition import Implementation, ToolDefinition
from assay.model.version import VERSION
from assay.protocol.http.parameter_header import InvalidHeader, header_parameters
from assay.protocol.opening import Identity, read_revision

from .answer import Handlers, read_roots
from .callback import Callback
from .calls import DEFAULT, Calls
from .incoming import Notices
from .life import Life, SentRequest
from .log import client_logger
from .retry import Retry
from .session import CallOptions, Session
from .settings import Settings
from .target import HttpOptions, link_factory

if TYPE_CHECKING:
    from .answer import ElicitationHandler, Roots, SamplingHandler
    from .target import Target


class Client(Calls, Life):
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
        headers: Headers for each HTTP request, such as Authorization.
        tls: Which servers to trust, and the client's certificate; by default what the system trusts.
        name: The client's name, for the server.
        version: The client's version.
        capabilities: Further capabilities to declare, such as extensions, or `{"sampling": {"tools": {}}}` if
            the sampling handler supports tools.
        limits: What a server can make the client hold or wait for; see `ClientLimits`.
        retry: How long and how often to try again after failures; see `Retry`. Only requests without an
            effect are sent twice.
        on_state: Called with a `StateChange` when the connection is lost, opened again, or closed.

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
        tls: ssl.SSLContext | None = None,
        name: str = "assay",
        version: str = VERSION,
        capabilities: Mapping[str, Any] | None = None,
        limits: ClientLimits | None = None,
        retry: Retry | None = None,
        on_state: Callback | None = None,
    ) -> None:
        self.limits = limits or ClientLimits()
        self.timeout = timeout
        make_link = link_factory(target, self.limits, HttpOptions(headers, tls))
        handlers = Handlers(sampling, elicitation, read_roots(roots), capabilities or {})
        level = log_level or (None if on_log is None else "info")
        identity = Identity(Implementation(name, version), handlers.capabilities(), level)
        pinned = None if revision is None else read_revision(revision)
        notices = Notices(on_log, on_change)
        settings = Settings(identity, self.limits, handlers, notices, pinned)
        super().__init__(make_link, settings, retry or Retry(), on_state)

    # What is known of the server.

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
        self._idempotent_tools = frozenset(tool.name for tool in tools if _is_idempotent(tool))
        if session.agreed.revision.http.mirrored is None:
            return tools
        usable = [tool for tool in tools if _has_valid_headers(tool)]
        session.learn(usable)
        return usable

    async def roots_changed(self) -> None:
        """Notify the server that the result of the `roots` function has changed. In revisions without this
        notification, the server asks when it needs the roots."""
        await self._open_one.announce_roots()

    # Requests.

    async def _request(
        self,
        method: str,
        params: dict[str, Any] | None,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        idempotent: bool | None = None,
    ) -> Raw:
        session = self._session
        if session is None:
            raise ClientClosed
        options = CallOptions(self.timeout if timeout is DEFAULT else timeout, progress)
        failure: ClientError | None = None
        if not self._is_troubled:
            try:
                return await session.request(method, params, options)
            except (ConnectionFailed, HttpFailure) as error:
                failure = error
        return await self._send_again(session, SentRequest(method, params, options, idempotent), failure)


def _is_idempotent(tool: ToolDefinition) -> bool:
    hints = tool.annotations
    return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)


def _has_valid_headers(tool: ToolDefinition) -> bool:
    try:
        header_parameters(tool.input_schema)
    except InvalidHeader as error:
        client_logger().warning("tool %s cannot be used: %s", tool.name, error)
        return False
    return True
