"""The server that users create, register functions with, and run or embed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Never

from msgspec import Raw

from assay.extensions.tasks import EXTENSION as TASKS
from assay.model.content import Icon
from assay.model.definition import Implementation
from assay.model.error import RegistrationError, RpcError
from assay.model.jsonrpc import Envelope
from assay.model.limits import Limits
from assay.model.result import Cache
from assay.model.session import SessionRecord
from assay.model.strictness import LENIENT, Strictness
from assay.protocol.byte_budget import ByteBudget
from assay.protocol.codec import as_bytes, decode, encode, encode_outcome, error_reply
from assay.protocol.lifecycle import STEPS, STRICT_STEPS
from assay.protocol.scope import Scope, Send
from assay.protocol.seal import Sealer
from assay.protocol.session import STATELESS, Session
from assay.protocol.session_budget import SessionBudget
from assay.protocol.time_share import TimeShares
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from assay.revisions.served import Served, read_served
from assay.server.calls.call import Call
from assay.server.calls.source import SYSTEM, Sources
from assay.server.calls.state_lookup import ClientStates
from assay.server.components.component import Components, make_components
from assay.server.components.required_scope import read_method_scopes
from assay.server.components.resource import Access
from assay.server.components.tool import Tool
from assay.server.dispatch.dispatcher import Dispatcher
from assay.server.dispatch.method_table import MethodTables
from assay.server.dispatch.notifier import ChangeNotifier
from assay.server.dispatch.protocol_method import ProtocolMethods
from assay.server.dispatch.services import Services
from assay.server.extensions.joined import Extensions
from assay.server.handlers.overriding import Overriding
from assay.server.handlers.thread_pool import ThreadPool
from assay.server.middleware.registration import MiddlewareRegistration
from assay.server.results.typed_result import ResultWriter
from assay.store.port import Store, TaskStore

from .feature import Features
from .hint import SERVER_OPTION_HINTS, check_names, option_names
from .hosting import Hosting
from .lifecycle import Lifecycle
from .lifespan import LifespanFunction
from .option_check import check_options
from .registration import Registration
from .runner import TRANSPORTS
from .sealer import make_sealer
from .typed_scope import S, ScopeTyped

if TYPE_CHECKING:
    from assay.server.tasks.service import Tasks

    from .runnable import AuthProvider


class Server(ScopeTyped[S], Registration, MiddlewareRegistration, Lifecycle, Overriding, Hosting):
    """An MCP server for every protocol revision.

        from assay import Server

        server = Server("calculator", "1.0.0")

        @server.tool
        async def add(a: int, b: int) -> int:
            "Add two numbers."
            return a + b

        if __name__ == "__main__":
            server.run()

    Serve it with `run` or `assay serve`, embed it in a web application with `asgi`, or pass messages to
    `handle` yourself.

    Args:
        name: The server's name, for clients and logs.
        version: The server's version.
        title: A name for people to read.
        description: What the server does, in one sentence.
        instructions: How to use the server, for the client's model.
        website_url: A page about the server.
        icons: Icons for clients to show.
        capabilities: Switches capabilities on before something is registered, or off although something is:
            `{"tools": True, "logging": False, "resources.subscribe": False}`.
        limits: Sizes, timeouts and concurrency; see `Limits`.
        page_size: How many tools, resources or prompts one page of a list holds.
        access: Decides who may read a resource: a function of the URI and the `Scope`. False hides it.
        cache: How long clients may reuse lists.
        scopes: Scopes that callers need for a method, such as `{"tools/call": ["call"]}`.
        sealing: The key, or several while keys are rotated, that signs what clients carry between two rounds
            of questions. The first one signs, all verify. Workers behind one load balancer must share it.
        store: Where sessions, events, tasks and kept state live: a URL such as `sqlite:///state.db` or
            `redis://host:6379/0` (see `assay.store.open_store`), or a store; in memory by default.
        task_store: Where tasks are kept, if not there.
        strictness: Rules to enforce beyond the specification; see `Strictness`.
        auth: Which tokens to accept over HTTP and WebSocket: an `assay.auth.Auth`. Not used on stdio.
        revisions: Dates of the protocol revisions to serve; all by default.
        lifespan: A function of the server that returns an async context manager, which is entered when the
            server starts and exited when it stops. What it yields is `Context.lifespan`.
        sources: Where `ctx.clock` and `ctx.random` come from; the operating system by default, and
            `SeededSources` for replay and tests.
        debug: For development only: clients get the type, message and traceback of exceptions, and handlers
            that block the event loop are logged.

    Raises:
        RegistrationError: an argument is invalid.
        StoreError: the URL of the store is wrong.
    """

    transports = tuple(TRANSPORTS)
    """Names of transports for `run`."""
    debug: bool
    """Whether clients get the details of exceptions; only for development."""
    _tasks: Tasks | None = None

    def __init__(
        self,
        name: str,
        version: str = "0.0.0",
        *,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[Icon] | None = None,
        capabilities: Mapping[str, bool] | None = None,
        limits: Limits | None = None,
        page_size: int = 1000,
        access: Access | None = None,
        cache: Cache | None = None,
        scopes: Mapping[str, Sequence[str]] | None = None,
        sealing: Sealer | bytes | Sequence[bytes] | None = None,
        store: Store | str | None = None,
        task_store: TaskStore | None = None,
        strictness: Strictness = LENIENT,
        auth: AuthProvider | None = None,
        revisions: Sequence[str] | None = None,
        lifespan: LifespanFunction | None = None,
        sources: Sources = SYSTEM,
        debug: bool = False,
        **unknown: Never,
    ) -> None:
        check_names("Server", unknown, option_names(Server.__init__), SERVER_OPTION_HINTS)
        check_options(locals(), icons)
        self._prepare(name, lifespan)
        self.info = Implementation(name, version, title, description, website_url, icons)
        self.instructions = instructions
        self._apply(limits or Limits(), strictness)
        self.auth, self.debug, self.sources = auth, debug, sources
        self.method_scopes, self._task_store = read_method_scopes(scopes), task_store
        components = self._make_components(page_size, access)
        self._assemble(components, capabilities or {}, make_sealer(sealing), cache or Cache())
        if revisions is not None:
            self.serve_only(revisions)
        if store is not None:
            self.use_store(store)

    def _apply(self, limits: Limits, strictness: Strictness) -> None:
        self.strictness, self.limits = strictness, limits
        self._steps = STRICT_STEPS if strictness.initialized else STEPS
        self.byte_budget = ByteBudget.of(limits)
        self.time_shares = TimeShares(limits, perf_counter)
        self.session_budget = SessionBudget(limits.session_bytes, Lock())

    def _make_components(self, page_size: int, access: Access | None) -> Components:
        return make_components(
            self.limits,
            self.byte_budget,
            page_size=page_size,
            access=access,
            hide_unknown_tools=self.strictness.unknown_tool,
            on_change=self._on_change,
            direct_call=self._begin_direct_call,
            on_tool=self._open_extensions,
        )

    def _assemble(
        self, components: Components, capabilities: Mapping[str, bool], sealer: Sealer, cache: Cache
    ) -> None:
        self.tools, self.resources, self.prompts = components.tools, components.resources, components.prompts
        self.completions, self.custom_methods = components.completions, components.custom_methods
        self.notifications = components.notifications
        features = Features(capabilities, components.registered, self.custom_methods.declaration)
        self.sealer = sealer
        self.notifier = ChangeNotifier(features.has)
        self.extensions = Extensions(self._on_extended)
        limits = self.limits
        threads = ThreadPool(limits.threads, limits.spare_threads, limits.idle_timeout)
        self._services = Services(
            self,
            limits,
            features,
            self.extensions,
            threads,
            sealer,
            ClientStates(limits),
            cache,
            self._lifespan.value,
        )
        methods = ProtocolMethods(components, self.notifier, self, self._start_background)
        self.tables = MethodTables(methods, components, features, self.method_scopes, self.extensions)
        self._writer = ResultWriter(self.info)
        dispatcher = Dispatcher(
            self._services,
            self.tables,
            self.notifications,
            self._writer,
            lambda: not self.strictness.single,
        )
        self._serve_with(*self._typed(dispatcher.dispatch, dispatcher.dispatch_batch))

    def _on_change(self, kind: str) -> None:
        self.tables.clear()
        self.notifier.list_changed(kind)

    def _open_extensions(self, tool: Tool) -> None:
        """Serve the extensions that a tool needs, from the first such tool on."""
        if tool.task is not None:
            self._open_tasks()
        if tool.ui is not None:
            from assay.server.extensions.apps import open_apps

            open_apps(self)

    def _open_tasks(self) -> None:
        if TASKS.name in self.extensions:
            return
        # Imported here, because few servers have such tools.
        from assay.server.tasks.method import TaskMethods
        from assay.server.tasks.service import Tasks
        from assay.store.task_memory import MemoryTasks

        store = MemoryTasks(self.limits) if self._task_store is None else self._task_store
        self._tasks = tasks = Tasks(store, self._services, self.notifier, self._writer)
        self.extensions.join(TaskMethods(tasks, self.tools.registry, self.method_scopes))

    def _move_tasks(self) -> None:
        if self._tasks is not None and self._task_store is None and self.store is not None:
            self._tasks.move(self.store.tasks, self.store.bus)

    def _on_extended(self) -> None:
        self.tables.clear()

    def direct_call(self, revision: Revision = HANDSHAKE[-1]) -> Call:
        """A call made by code in this process instead of a client."""
        message = Envelope("2.0", id="direct", params=Raw(b"{}"))
        return Call(self._services, message, STATELESS[revision], Scope(), None)

    @property
    def served(self) -> Served:
        """The protocol revisions that are served."""
        return self.tables.served

    @property
    def revisions(self) -> tuple[str, ...]:
        """Dates of the protocol revisions that are served, oldest first."""
        return self.served.dates

    def serve_only(self, revisions: Sequence[str]) -> None:
        """Serve only these of the protocol revisions. Call it before the server runs.

        Raises:
            RegistrationError: there is none, or one is not served; the message names those that are.
        """
        try:
            self.tables.serve_only(read_served(revisions, self.served))
        except ValueError as error:
            raise RegistrationError(str(error)) from None

    def resource_updated(self, uri: str) -> None:
        """Notify clients that subscribed to a resource that its contents have changed. Thread-safe."""
        self.notifier.resource_updated(uri)
        self.tables.report(uri)

    async def handle(
        self,
        message: bytes | str | Mapping[str, Any],
        *,
        send: Send | None = None,
        scope: S | None = None,
    ) -> bytes | None:
        """Serve one JSON-RPC message, for hosts with their own transport.

        Args:
            message: The message or batch: encoded, or as a mapping.
            send: A coroutine function for messages that a handler sends before its answer. Without one these
                are discarded, and handlers cannot ask the client anything.
            scope: The context of the message: principal, session, revision and so on. `Server[MyScope]` takes
                a `MyScope`.

        Returns:
            The encoded answer; None for notifications and responses.

        Raises:
            TypeError: the scope is not of the server's class.
        """
        checked: Scope = scope if type(scope) is self.scope_type else self._check_scope(scope)
        try:
            body = message if type(message) is bytes else as_bytes(message)
            decoded = decode(body, self.limits)
            if isinstance(decoded, list):
                outcomes = await self.dispatch_batch(decoded, send, checked)
                return b"[" + b",".join(map(encode_outcome, outcomes)) + b"]" if outcomes else None
        except RpcError as error:
            return encode(error_reply(error, getattr(error, "request_id", None)))
        try:
            outcome = await self.dispatch(decoded, send, checked)
        except RpcError:
            return None  # a notification or response that cannot be accepted has no answer
        return None if outcome is None else encode_outcome(outcome)

    async def stop(self) -> None:
        """Stop the background tasks, exit the lifespan, and end the sessions and streams of `http`."""
        await self._stop_http()
        await super().stop()

    def open_session(
        self,
        post: Callable[[bytes], None],
        *,
        session_id: str = "",
        principal: Any = None,
        announce: bool = True,
    ) -> Session:
        """Open a session, for hosts with their own transport. Pass it in the `Scope` of each message, and
        close it with `close_session`.

        Args:
            post: Called with messages that the server sends on its own initiative. It must neither block nor
                raise.
            session_id: The id of the session, if the transport has one.
            principal: The authenticated caller.
            announce: Whether changes of lists and resources are posted to it.
        """
        session = Session(
            post,
            session_id=session_id,
            principal=principal,
            steps=self._steps,
            budget=self.session_budget,
            served=self.served,
        )
        return self._join(session, announce)

    def restore_session(
        self, record: SessionRecord, post: Callable[[bytes], None], *, announce: bool = True
    ) -> Session:
        """Reopen a session from a store; `post` as in `open_session`."""
        session = Session.restore(
            record, post, steps=self._steps, budget=self.session_budget, served=self.served
        )
        return self._join(session, announce)

    def _join(self, session: Session, announce: bool) -> Session:
        if self.strictness.unique_ids:
            from assay.protocol.used_ids import UsedIds

            session.used_ids = UsedIds(self.limits.request_ids, self.limits.request_id_bytes)
        if announce:
            self.notifier.join(session)
        self._start_background()
        return session

    def watch_changes(self, forward: Callable[[Iterable[str], Iterable[str]], None]) -> Callable[[], None]:
        """Call a function with the changes of lists and resources that begin in this process. Returns a
        function that ends this."""
        self.notifier.connect(forward)
        return lambda: self.notifier.disconnect(forward)

    def end_listening(self) -> None:
        """End all listen streams, so that a transport can stop."""
        self.notifier.end_listeners()

    def close_session(self, session: Session, reason: str | None = None) -> None:
        """Close a session and end its requests. Idempotent.

        Args:
            session: The session.
            reason: The error that requests in progress are answered with. Without one they get no answer,
                because the client is gone.
        """
        self.notifier.leave(session)
        session.close(reason)
