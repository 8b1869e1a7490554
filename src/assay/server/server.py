"""The server: what a user creates, decorates functions with, and runs or embeds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from msgspec import Raw

from assay.model.content import Annotations, Icon
from assay.model.definition import Implementation, ToolAnnotations
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR, MalformedMessage, RpcError
from assay.model.jsonrpc import Envelope
from assay.model.limits import Limits
from assay.model.result import Cache
from assay.model.session import SessionRecord
from assay.model.strictness import LENIENT, Strictness
from assay.protocol.codec import decode, encode, encode_outcome, error_reply
from assay.protocol.layer import Layer
from assay.protocol.lifecycle import STEPS, STRICT_STEPS
from assay.protocol.scope import Scope, Send
from assay.protocol.seal import Sealer
from assay.protocol.session import STATELESS, Session
from assay.revisions.registry import DATES, HANDSHAKE
from assay.revisions.revision import Opening, Revision

from .background import Background
from .call import Call
from .client_state import ClientStates
from .completion_registry import Completions
from .concurrency import ConcurrencyLimit
from .custom_method import CustomMethods
from .dispatch import dispatch, dispatch_batch
from .feature import Features
from .method_table import MethodTable, make_table
from .notifier import ChangeNotifier
from .port import AuthProvider
from .prompt_registry import Prompts
from .registry import PagedRegistry
from .resource import Access
from .resource_registry import Resources
from .runner import TRANSPORTS, make_app, run
from .scope_guard import read_method_scopes
from .sealer import make_sealer
from .thread_pool import ThreadPool
from .tool_registry import Tools
from .typed_result import ResultWriter

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application
    from assay.transport.asgi.build import HttpOptions

F = TypeVar("F", bound=Callable[..., Any])


class Server:
    """An MCP server. Functions become tools, resources and prompts; `run` or `asgi` serves them.

    `capabilities` switches a capability on although nothing is registered yet, or off although
    something is: `{"tools": True, "logging": False, "resources.subscribe": False}`. `cache` is what
    clients are told of reusing lists. `sealing` is the key, or several where keys are rotated, that
    signs what clients carry between two rounds of questions: workers that share a load share it.
    `strictness` is what it insists on although the specification does not. `auth` says whose tokens let a
    client in by HTTP or WebSocket: an `assay.auth.Auth`; on stdio it has no part. `scopes` are what methods
    take of a client, where clients are granted some: `{"tools/call": ["call"]}`.
    """

    revisions = DATES
    """Dates of the protocol revisions that are served, oldest first."""
    transports = tuple(TRANSPORTS)
    """Names that `run` takes."""
    layers: tuple[Layer, ...] = ()
    """What stands around its methods, the outermost first."""

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
        strictness: Strictness = LENIENT,
        auth: AuthProvider | None = None,
    ) -> None:
        self.info = Implementation(name, version, title, description, website_url, icons)
        self.instructions = instructions
        self.limits = limits or Limits()
        self.strictness = strictness
        self.auth = auth
        self._steps = STRICT_STEPS if strictness.initialized else STEPS
        self.thread_pool = ThreadPool(self.limits.threads)
        self.writer = ResultWriter(self.info)
        # For transports: serve one decoded message, or the members of a batch.
        self.dispatch = partial(dispatch, self)
        self.dispatch_batch = partial(dispatch_batch, self)
        self.cache = cache or Cache()
        self.sealer = make_sealer(sealing)
        self.method_scopes = read_method_scopes(scopes)
        self.tables: dict[Revision, MethodTable] = {}
        self._build(page_size, access)
        registered = {
            "tools": lambda: self.tools.registry.used,
            "resources": lambda: self.resources.registry.used or self.resources.template_registry.used,
            "prompts": lambda: self.prompts.registry.used,
            "logging": lambda: True,
            "completions": lambda: bool(self.completions),
        }
        self.features = Features(capabilities or {}, registered)
        self.notifier = ChangeNotifier(self.features.has)

    def _build(self, page_size: int, access: Access | None) -> None:
        limit = ConcurrencyLimit(self.limits.concurrency, self.limits.backlog)

        def registry(kind: str, announced_as: str) -> PagedRegistry[Any]:
            return PagedRegistry(kind, page_size, lambda: self._on_change(announced_as))

        unknown = METHOD_NOT_FOUND if self.strictness.unknown_tool else INVALID_PARAMS
        self.tools = Tools(
            registry("tools", "tools"), limit, self.limits.backlog, self.direct_call, unknown=unknown
        )
        registries = (registry("resources", "resources"), registry("templates", "resources"))
        self.resources = Resources(registries, limit, access, self.direct_call)
        self.prompts = Prompts(registry("prompts", "prompts"), limit, self.direct_call)
        self.completions = Completions(self.prompts, self.resources, limit)
        self.custom_methods = CustomMethods(limit)
        self.client_states = ClientStates(self.limits)
        self._background = Background()

    def _on_change(self, kind: str) -> None:
        self.tables.clear()
        self.notifier.list_changed(kind)

    def direct_call(self, revision: Revision = HANDSHAKE[-1]) -> Call:
        """The circumstances of a call that comes from code instead of a client."""
        message = Envelope("2.0", id="direct", params=Raw(b"{}"))
        return Call(self, message, STATELESS[revision], Scope(), None)

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        annotations: ToolAnnotations | Mapping[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        concurrency: int | None = None,
        scopes: Sequence[str] = (),
    ) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
        """Register a function as a tool: `@server.tool` or `@server.tool(title="...")`.

        Its parameters become the input schema, its return type the output schema, its docstring the
        description. `concurrency` limits how many calls of this tool run at once, `scopes` who may call.
        """

        def register(decorated: F) -> F:
            self.tools.add(decorated, **options)
            return decorated

        return register if function is None else register(function)

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        access: Access | None = None,
        cache: Cache | None = None,
        scopes: Sequence[str] = (),
    ) -> Callable[[F], F]:
        """Register a function as the resource at a URI, or at every URI of an RFC 6570 template.

        `access` decides who may read it, a function of the URI and the scope; `scopes` as well, openly.
        """
        about: dict[str, Any] = {
            "name": name,
            "title": title,
            "description": description,
            "mime_type": mime_type,
        }
        about |= {"size": size, "annotations": annotations, "icons": icons, "meta": meta, "access": access}
        about |= {"cache": cache, "scopes": scopes}

        def register(decorated: F) -> F:
            self.resources.add(uri, decorated, **about)
            return decorated

        return register

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        scopes: Sequence[str] = (),
        version: str | None = None,
    ) -> Callable[[F], F]: ...
    def prompt(self, function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
        """Register a function as a prompt: `@server.prompt` or `@server.prompt(title="...")`.

        `version` is that of its text, as in `1.2.0`: `assay.profile` tells clients of it.
        """

        def register(decorated: F) -> F:
            self.prompts.add(decorated, **options)
            return decorated

        return register if function is None else register(function)

    def completion(self, target: str, argument: str) -> Callable[[F], F]:
        """Register a function that suggests values for an argument of a prompt (by name) or of a
        resource template (by URI template)."""

        def register(decorated: F) -> F:
            self.completions.add(target, argument, decorated)
            self.tables.clear()
            return decorated

        return register

    def method(
        self,
        name: str,
        *,
        capability: str | None = None,
        extension: str | None = None,
        revisions: Collection[str] | None = None,
        scopes: Sequence[str] = (),
    ) -> Callable[[F], F]:
        """Register a function as a method of this server's own, such as `models/list`.

        Its parameters are those of the request, its result an object. It is declared by a top-level
        `capability`, and where the protocol has extensions also by the name of an `extension`.
        `revisions` are the dates of those that have it; all, unless they are given.
        """
        about: dict[str, Any] = {"capability": capability, "extension": extension}
        about |= {"revisions": revisions, "scopes": scopes}

        def register(decorated: F) -> F:
            self.custom_methods.add(name, decorated, **about)
            self.tables.clear()
            return decorated

        return register

    def use(self, layer: Layer) -> None:
        """Put a layer around every method, within those that are there already."""
        layer.join(self)
        self.layers = (*self.layers, layer)
        self.tables.clear()

    def background(self, function: F) -> F:
        """Register a coroutine function that runs while this server serves, and is cancelled in the end."""
        self._background.add(function)
        return function

    def resource_updated(self, uri: str) -> None:
        """Tell the clients that subscribed to a resource that it has changed. Callable from any thread."""
        self.notifier.resource_updated(uri)

    async def handle(
        self,
        message: bytes | str | Mapping[str, Any],
        *,
        send: Send | None = None,
        scope: Scope | None = None,
    ) -> bytes | None:
        """Serve one JSON-RPC message and return the answer, if there is one.

        This is the whole server: transports only carry bytes to it. `send` takes what the handler
        sends before its answer; without it that goes nowhere, and the client cannot be asked.
        """
        scope = scope or Scope()
        try:
            decoded = decode(_as_bytes(message), self.limits)
            if isinstance(decoded, list):
                outcomes = await dispatch_batch(self, decoded, send, scope)
                return b"[" + b",".join(map(encode_outcome, outcomes)) + b"]" if outcomes else None
        except RpcError as error:
            return encode(error_reply(error, getattr(error, "request_id", None)))
        try:
            outcome = await dispatch(self, decoded, send, scope)
        except RpcError:
            return None  # a notification or response that cannot be accepted has no answer
        return None if outcome is None else encode_outcome(outcome)

    def methods(self, revision: Revision) -> MethodTable:
        """What may be called under a revision, as long as the registries do not change."""
        table = self.tables.get(revision)
        if table is None:
            table = self.tables[revision] = make_table(self, revision)
        return table

    def declaration(self, revision: Revision, call: Call) -> dict[str, Any]:
        """The capabilities that a client of this revision is told of."""
        # Changes come in sessions or on listen streams: where neither can be held open, none are promised.
        way = call.session if revision.opening is Opening.HANDSHAKE else call.send
        declared = self.features.declaration(revision, in_session=way is not None)
        return declared | self.custom_methods.declaration(revision)

    def start(self) -> None:
        """Begin the background work, unless it goes on already; transports do so by themselves."""
        self._background.start()

    async def stop(self) -> None:
        """End the background work."""
        await self._background.stop()

    def open_session(
        self, post: Callable[[bytes], None], *, session_id: str = "", principal: Any = None
    ) -> Session:
        """Begin a conversation; put the session into the scope of its messages, and close it in the end.

        `post` carries what the server sends on its own. It must neither block nor raise.
        """
        session = Session(post, session_id=session_id, principal=principal, steps=self._steps)
        self.notifier.join(session)
        self.start()
        return session

    def restore_session(self, record: SessionRecord, post: Callable[[bytes], None]) -> Session:
        """Go on with a session that a store has kept."""
        session = Session.restore(record, post, steps=self._steps)
        self.notifier.join(session)
        self.start()
        return session

    def end_listening(self) -> None:
        """End all listen streams, so that a transport can stop."""
        self.notifier.end_listening()

    def close_session(self, session: Session) -> None:
        """End a conversation: what runs for it is cancelled. Closing twice is harmless."""
        self.notifier.leave(session)
        session.close()

    def asgi(self, **options: Unpack[HttpOptions]) -> Application:
        """This server as an ASGI application. Options: see `assay.transport.asgi.build`."""
        return make_app(self, **options)

    def run(self, transport: str = "stdio", **options: Any) -> None:
        """Serve until the client leaves (stdio) or the process is told to stop.

        Transports: `stdio`, `http`, `http-plain`, `ws`. Options of all but stdio: `host`, `port`, those of
        `asgi`, `announce`, a function that gets the endpoint's URL once it listens, and for TLS the files
        `tls_cert`, `tls_key` (unless the first holds it) and `tls_client_ca`: who vouches for clients then.

        Raises:
            TlsError: a certificate or key cannot be used.
            MissingExtra: the transport needs a package that is not installed.
            OSError: the address cannot be listened on.
        """
        run(self, transport, **options)


def _as_bytes(message: bytes | str | Mapping[str, Any]) -> bytes:
    if isinstance(message, bytes):
        return message
    if isinstance(message, str):
        # Lone surrogates stay what they are, invalid UTF-8, for the decoder to refuse.
        return message.encode("utf-8", "surrogatepass")
    try:
        return encode(message)
    except UnicodeEncodeError:
        # `json.loads` lets lone surrogates through, so a client can put them into a host's mapping.
        raise MalformedMessage(PARSE_ERROR, "parse error: a lone surrogate is no character") from None
