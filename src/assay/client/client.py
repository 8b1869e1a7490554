"""The client that users create."""

from __future__ import annotations

import ssl
from asyncio import get_running_loop
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Raw

from assay.client.auth.selection import make_authorizer
from assay.model.client_error import ClientClosed, ClientError, ConnectionFailed, HttpFailure, ServerError
from assay.model.client_limits import ClientLimits
from assay.model.definition import Implementation, ToolDefinition
from assay.model.version import VERSION

from .callback import Callback
from .calls import Calls
from .change_hub import ChangeHub
from .extension_calls import DEFAULT
from .hint import NamesOfOthers, NeedsAsync, check_options, check_text, check_types, read_level
from .life import Life, SentRequest
from .log import client_logger
from .output import Outputs
from .result_cache import ResultCache
from .retry import Retry
from .settings import CallOptions, Notices, Settings
from .target import HttpOptions, Servers, link_factory, resolve

if TYPE_CHECKING:
    from assay.client.auth.selection import Auth
    from assay.model.notice import ListKind
    from assay.revisions.revision import TaskForm
    from assay.transport.client.proxy import ProxyOption

    from .answer import ElicitationHandler, Handlers, Roots, SamplingHandler
    from .changes import Changes
    from .group import Group
    from .input_required import Question
    from .session import Session
    from .target import Target

URL_REQUIRED: Final = -32042
"""The user must visit a page first (client/elicitation)."""
OTHER_LOOP: Final = (
    "the client was opened in another event loop: open one in each loop (every asyncio.run has its own), "
    "or use SyncClient, which any thread may call"
)


class Client(Calls, Life, NamesOfOthers, NeedsAsync):
    """A client of one MCP server, over every transport and in every protocol revision.

        async with Client("https://example.com/mcp") as client:
            result = await client.call("add", a=1, b=2)

    Args:
        target: A `Server` in this process, a URL (http, https, ws, wss), `Stdio("command", "argument")`, or a
            configuration with `mcpServers`, as a dict or the path of a JSON file.
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
        proxy: The URL of an HTTP proxy, or False for none; by default that of the environment.
        name: The client's name, for the server.
        version: The client's version.
        capabilities: Further capabilities to declare, such as extensions, or `{"sampling": {"tools": {}}}` if
            the sampling handler supports tools.
        apps: Whether to declare that the pages of tools are shown; see `app`.
        limits: What a server can make the client hold or wait for; see `ClientLimits`.
        check_output: Whether results are checked against the output schemas that `tools()` has returned.
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
        auth: Auth | None = None,
        tls: ssl.SSLContext | None = None,
        proxy: ProxyOption = None,
        name: str = "assay",
        version: str = VERSION,
        capabilities: Mapping[str, Any] | None = None,
        apps: bool = False,
        limits: ClientLimits | None = None,
        check_output: bool = True,
        retry: Retry | None = None,
        on_state: Callback | None = None,
    ) -> None:
        check_options(timeout, sampling=sampling, elicitation=elicitation)
        check_options(None, on_log=on_log, on_change=on_change, on_state=on_state)
        check_types(limits=(limits, ClientLimits), retry=(retry, Retry), tls=(tls, ssl.SSLContext))
        check_types(name=(name, str), version=(version, str), headers=(headers, Mapping))
        self.limits = limits or ClientLimits()
        self.timeout = timeout
        self._outputs = Outputs(self.limits)
        self._check_output = check_output
        target, headers, auth = resolve(target, headers, auth)
        self._authorizer = None if auth is None else make_authorizer(auth, target, tls, proxy)
        policy = retry or Retry()
        http = HttpOptions(headers, tls, self._authorizer, proxy, policy.deadline)
        make_link = link_factory(target, self.limits, http)
        self._cache = ResultCache(self.limits, principal=self._token)
        self._hub = ChangeHub()
        self._hub.observers += (self._cache.observe, self._outputs.observe)
        handlers = _make_handlers(sampling, elicitation, roots, _declared(capabilities, apps=apps))
        notices = Notices(on_log, on_change, read_level(log_level, on_log))
        settings = _make_settings(self, Implementation(name, version), handlers, notices, revision)
        super().__init__(make_link, settings, policy, on_state)
        self._group = _make_group(self, target, http) if isinstance(target, Servers) else None

    async def _first(self) -> Session:
        try:
            return await super()._first()
        except BaseException:
            if self._authorizer is not None:
                await self._authorizer.close()
            raise

    @property
    def _open_timeout(self) -> float:
        return super()._open_timeout + (0.0 if self._authorizer is None else self._authorizer.patience)

    def _token(self) -> int:
        return 0 if self._authorizer is None else self._authorizer.generation

    @property
    def servers(self) -> Mapping[str, Client]:
        """The clients of the servers, by name, if the target is a configuration of several."""
        return {} if self._group is None else self._group.clients

    async def _open_session(self) -> Session:
        if self._group is None:
            return await super()._open_session()
        await self._group.open()
        return cast("Session", self._group)  # it has what a client uses of one

    async def _close(self, sessions: list[Session]) -> None:
        await self._hub.close(self.limits.close_timeout)
        await super()._close(sessions)
        if self._authorizer is not None:
            await self._authorizer.close()

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
    def task_form(self) -> TaskForm:
        """How the protocol revision in use has tasks; of several servers, each has its own."""
        from assay.revisions.revision import TaskForm

        return TaskForm.ABSENT if self._group is not None else self._open_one.agreed.revision.tasks

    async def _answers(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        return await (await self._usable_session()).answer_questions(questions)

    @property
    def _open_one(self) -> Session:
        if self._session is None:
            raise ClientClosed
        return self._session

    @property
    def _ping_method(self) -> str:
        return "ping" if "ping" in self._open_one.agreed.revision.requests else "server/discover"

    async def _usable_session(self) -> Session:
        """The session in use, opened again if it was lost.

        Raises:
            ClientError: that is not possible.
        """
        session = self._open_one
        if get_running_loop() is not self._loop:
            raise ClientError(OTHER_LOOP)
        return await self._replaced(session) if session.is_lost else session

    def _learn(self, tools: list[ToolDefinition]) -> list[ToolDefinition]:
        from assay.revisions.revision import Structured

        session = self._open_one
        self._idempotent_tools = frozenset(tool.name for tool in tools if _is_idempotent(tool))
        if self._check_output and session.agreed.revision.structured is not Structured.ABSENT:
            self._outputs.learn(tools)
        if session.agreed.revision.http.mirrored is None:
            return tools
        usable = [tool for tool in tools if _has_valid_headers(tool)]
        session.learn(usable)
        return usable

    # Changes of the server.

    def listen(self, *kinds: ListKind, uris: Iterable[str] = ()) -> Changes:
        """Changes of the server's lists, as an asynchronous iterator of `Change`s.

            async with client.listen("tools") as changes:
                async for change in changes:
                    tools = await client.tools()

        Args:
            *kinds: `tools`, `prompts` or `resources`; without any, all whose changes the server announces.
            uris: Resources whose changes are wanted, too.
        """
        return self._changes(kinds, uris)

    def subscribe(self, *uris: str) -> Changes:
        """Changes of these resources, as an asynchronous iterator of `Change`s with their `uri`.

        async with client.subscribe("file:///notes.txt") as changes:
            async for change in changes:
                contents = await client.read(change.uri)
        """
        if not uris:
            raise TypeError("subscribe needs the URI of a resource")
        return self._changes((), uris)

    def _changes(self, kinds: Iterable[str], uris: Iterable[str]) -> Changes:
        from .changes import Changes, Source
        from .listening import Interest, check_kinds

        wanted = (uris,) if isinstance(uris, str) else tuple(uris)
        for uri in wanted:
            check_text("the URI of a resource", uri, "write subscribe(uri), or subscribe(*uris)")
        interest = Interest(check_kinds(kinds), frozenset(wanted))
        return Changes(Source(self._hub, self.limits, self.timeout, self._usable_session), interest)

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
        if get_running_loop() is not self._loop:
            raise ClientError(OTHER_LOOP)
        if timeout is DEFAULT and progress is None:
            options = CallOptions(self.timeout)
        else:
            options = self._call_options(timeout, progress)
        failure: ClientError | None = None
        visited = False
        if not self._is_troubled:
            try:
                return await session.request(method, params, options)
            except (ConnectionFailed, HttpFailure) as error:
                failure = error
            except ClientError as error:
                visited = await self._has_visited(error, options)
                if not visited:
                    raise error.with_traceback(None)  # noqa: B904
        try:
            return await self._send_again(session, SentRequest(method, params, options, idempotent), failure)
        except ClientError as error:
            if visited or not await self._has_visited(error, options):
                raise error.with_traceback(None)  # noqa: B904
            return await self._open_one.request(method, params, options)

    def _call_options(self, timeout: float | None, progress: Callback | None) -> CallOptions:
        if timeout is not DEFAULT:
            check_options(timeout)
        if progress is not None:
            check_options(None, progress=progress)
        return CallOptions(self.timeout if timeout is DEFAULT else timeout, progress)

    async def _has_visited(self, error: ClientError, options: CallOptions) -> bool:
        """Whether the user has visited the pages that this refusal asks for, so that the request may be sent
        again."""
        is_refusal = isinstance(error, ServerError) and error.code == URL_REQUIRED
        return is_refusal and await self._open_one.visit_pages(cast(ServerError, error), options.timeout)


def _make_handlers(
    sampling: SamplingHandler | None,
    elicitation: ElicitationHandler | None,
    roots: Roots | None,
    capabilities: Mapping[str, Any] | None,
) -> Handlers:
    from .answer import Handlers, read_roots

    check_types(capabilities=(capabilities, Mapping))
    return Handlers(sampling, elicitation, read_roots(roots), capabilities or {})


def _declared(capabilities: Mapping[str, Any] | None, *, apps: bool) -> Mapping[str, Any] | None:
    if not apps:
        return capabilities
    from .apps import with_apps  # not at the top: few clients show pages

    return with_apps(capabilities)


def _make_settings(
    client: Client, info: Implementation, handlers: Handlers, notices: Notices, revision: str | None
) -> Settings:
    # Not at the top: the revisions take as long to import as the rest of the client.
    from assay.protocol.opening import Identity, read_revision

    identity = Identity(info, handlers.capabilities(), notices.log_level)
    pinned = None if revision is None else read_revision(revision)
    return Settings(identity, client.limits, handlers, notices, client._hub, client._cache, pinned)


def _make_group(client: Client, servers: Servers, http: HttpOptions) -> Group:
    from .group import Group  # not at the top: few clients have several servers

    group = Group(client, servers, http)
    client._retry = Retry(opening=0, deadline=0, restarts=0)  # those of the servers follow the policy
    return group


def _is_idempotent(tool: ToolDefinition) -> bool:
    hints = tool.annotations
    return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)


def _has_valid_headers(tool: ToolDefinition) -> bool:
    from assay.protocol.http.parameter_header import InvalidHeader, header_parameters

    try:
        header_parameters(tool.input_schema)
    except InvalidHeader as error:
        client_logger().warning("tool %s cannot be used: %s", tool.name, error)
        return False
    return True
