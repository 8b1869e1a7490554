"""Several servers as one: the session of a client with a configuration of more than one server.

Each server has its own client, which keeps the connection usable. Requests go to the server that their
name or URI says, and lists are those of all servers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from assay.client.auth.selection import make_authorizer
from assay.model.client_error import ClientClosed, ClientError, ConnectionFailed, HttpFailure, ServerError
from assay.model.definition import ToolDefinition
from assay.protocol.opening import Agreement
from assay.transport.client.port import Authorizer, Link, SessionGone

from .change_hub import ChangeHub, ChangeStream
from .client import Client
from .life import Life
from .listening import KINDS, Interest
from .listing import PAGES, collect
from .log import client_logger
from .output import Outputs
from .prefix import Prefixes
from .result_cache import Hints, ResultCache, read_hints, strictest
from .settings import Notices
from .target import HttpOptions, ServerEntry, Servers, link_factory

if TYPE_CHECKING:
    from .callback import Callback
    from .settings import CallOptions

SKILLS: Final = "io.modelcontextprotocol/skills"


class _List(NamedTuple):
    capability: str
    items: str
    """The name of the list in its results."""
    field: str
    """The field of an entry that says its server."""


LISTS: Final = {
    "tools/list": _List("tools", "tools", "name"),
    "prompts/list": _List("prompts", "prompts", "name"),
    "resources/list": _List("resources", "resources", "uri"),
    "resources/templates/list": _List("resources", "resourceTemplates", "uri_template"),
}
BY_NAME: Final = frozenset({"tools/call", "prompts/get"})
BY_URI: Final = frozenset({"resources/read", "skills/get"})
PINGS: Final = frozenset({"ping", "server/discover"})


class Member(Client):
    """The client of one server of a configuration, with the options of the client of all."""

    def __init__(
        self,
        owner: Client,
        prefixes: Prefixes,
        server: str,
        make_link: Callable[[], Link],
        authorizer: Authorizer | None = None,
    ) -> None:
        self.limits, self.timeout = owner.limits, owner.timeout
        self._outputs, self._check_output = Outputs(owner.limits), False  # the owner checks
        self._authorizer, self._group = authorizer, None
        self._cache = ResultCache(owner.limits, principal=self._token)
        self._hub = ChangeHub()
        settings, observe = owner._settings, owner._hub.observe
        self._hub.observers.append(lambda change: observe(prefixes.change(server, change)))
        on_log, callback = settings.notices.on_log, settings.notices.on_change
        on_change = None if callback is None else _renaming(callback, prefixes, server)
        notices = Notices(on_log, on_change, settings.notices.log_level)
        own = msgspec.structs.replace(settings, notices=notices, hub=self._hub, cache=self._cache)
        Life.__init__(self, make_link, own, owner._retry, None)


def _renaming(callback: Callback, prefixes: Prefixes, server: str) -> Callback:
    return lambda change: callback(prefixes.change(server, change))


def _make_member(
    owner: Client, prefixes: Prefixes, server: str, entry: ServerEntry, http: HttpOptions
) -> Member:
    is_url, authorizer = isinstance(entry.target, str), None
    try:
        if entry.auth is not None:
            authorizer = make_authorizer(entry.auth, entry.target, http.tls, http.proxy)
        options = HttpOptions(entry.headers, http.tls, authorizer, http.proxy, http.resume)
        make_link = link_factory(entry.target, owner.limits, options if is_url else HttpOptions())
    except ValueError as error:
        raise ValueError(f"server {server!r}: {error}") from None
    return Member(owner, prefixes, server, make_link, authorizer)


class Group:
    """Has what `Client` uses of a `Session`.

    Raises:
        ValueError: the names of two servers are ambiguous, or an entry is invalid.
    """

    is_lost = False

    def __init__(self, owner: Client, servers: Servers, http: HttpOptions) -> None:
        self._prefixes = Prefixes(servers.entries)
        self._cache = owner._cache
        self.is_closed = False
        self.agreement: Agreement | None = None
        self.clients: dict[str, Client] = {
            name: _make_member(owner, self._prefixes, name, entry, http)
            for name, entry in servers.entries.items()
        }

    # Life.

    async def open(self) -> None:
        """Open all servers side by side.

        Raises:
            ConnectionFailed: one of them cannot be opened; the others are closed again.
        """
        self.is_closed = False
        names = list(self.clients)
        try:
            outcomes = await asyncio.gather(
                *(client.open() for client in self.clients.values()), return_exceptions=True
            )
        except asyncio.CancelledError:
            await self.close()
            raise
        failures = [
            (name, error)
            for name, error in zip(names, outcomes, strict=True)
            if isinstance(error, BaseException)
        ]
        if failures:
            await self.close()
            raise _failure(failures)
        self.agreement = self._agree()
        self._cache.begin(self.agreement.revision.cacheable)

    def _agree(self) -> Agreement:
        agreements = {name: client._open_one.agreed for name, client in self.clients.items()}
        capabilities: dict[str, Any] = {}
        for agreement in agreements.values():
            _merge(capabilities, agreement.capabilities)
        texts = [f"{name}: {item.instructions}" for name, item in agreements.items() if item.instructions]
        newest = max((item.revision for item in agreements.values()), key=lambda revision: revision.date)
        return Agreement(newest, capabilities, None, "\n\n".join(texts) or None)

    @property
    def agreed(self) -> Agreement:
        if self.agreement is None:
            raise ClientClosed
        return self.agreement

    @property
    def capabilities(self) -> dict[str, Any]:
        return self.agreed.capabilities

    async def close(self) -> None:
        """End everything, in bounded time. Idempotent."""
        self.is_closed = True
        await asyncio.gather(*(client.close() for client in self.clients.values()))

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        return  # the client of each server has

    async def visit_pages(self, error: ServerError, timeout: float | None) -> bool:
        return False  # the client of the server has

    async def announce_roots(self) -> None:
        await asyncio.gather(*(client.roots_changed() for client in self.clients.values()))

    # Requests.

    async def request(self, method: str, params: dict[str, Any] | None, options: CallOptions) -> Raw:
        """
        Raises:
            ClientError: no server has this name, or its error.
        """
        if method in LISTS:
            return await self._merged(method, LISTS[method])
        if method in PINGS:
            timeout = options.timeout
            await asyncio.gather(*(client.ping(timeout=timeout) for client in self.clients.values()))
            return Raw(b"{}")
        if method == "skills/list":
            return await self._skills()
        server, inner = self._route(method, params or {})
        client = self.clients[server]
        try:
            if method == "tools/call":
                raw = await client._call_tool(inner, options.timeout, options.progress, None)
            else:
                raw = await client._request(method, inner, options.timeout, options.progress)
        except SessionGone as error:
            # For this client alone it would mean to open all servers again; that of the server has tried.
            raise HttpFailure(error.url, error.status, error.body, error.headers, error.hint) from error
        except ClientError as error:
            error.add_note(f"the server is {server}")
            raise
        return self._outward(server, raw)

    def _route(self, method: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The server of a request, and its parameters there."""
        prefixes = self._prefixes
        try:
            if method in BY_NAME:
                server, name = prefixes.split_name(params["name"])
                return server, {**params, "name": name}
            if method in BY_URI:
                server, uri = prefixes.split_uri(params["uri"])
                return server, {**params, "uri": uri}
            if method == "completion/complete":
                return self._route_completion(params)
        except ValueError as error:
            raise ClientError(str(error)) from None
        raise ClientError(f"{method} is a request to one server: client.servers[name].request({method!r}, …)")

    def _route_completion(self, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        ref = params["ref"]
        field, split = (
            ("name", self._prefixes.split_name) if "name" in ref else ("uri", self._prefixes.split_uri)
        )
        server, inner = split(ref[field])
        return server, {**params, "ref": {**ref, field: inner}}

    def _outward(self, server: str, raw: Raw) -> Raw:
        if b'"uri"' not in bytes(raw):
            return raw
        return Raw(msgspec.json.encode(self._prefixes.outward(server, msgspec.json.decode(raw))))

    # Lists.

    async def _merged(self, method: str, kind: _List) -> Raw:
        offering = {
            name: client
            for name, client in self.clients.items()
            if client.capabilities.get(kind.capability) is not None
        }
        lists = await asyncio.gather(
            *(self._entries(name, client, method, kind) for name, client in offering.items())
        )
        hints = strictest([hint for _, hint in lists])
        return Raw(
            msgspec.json.encode(
                {
                    kind.items: [entry for entries, _ in lists for entry in entries],
                    "ttlMs": hints.ttl_ms,
                    "cacheScope": "private" if hints.is_private else "public",
                }
            )
        )

    async def _entries(
        self, server: str, client: Client, method: str, kind: _List
    ) -> tuple[list[Any], Hints]:
        hints: list[Hints] = []

        async def request(method: str, params: dict[str, Any]) -> Raw:
            raw = await client._request(method, params)
            hints.append(read_hints(raw) if method in client._cache.methods else Hints())
            return raw

        try:
            items = await collect(method, request, client.limits, PAGES[method])
        except ClientError as error:
            error.add_note(f"the server is {server}")
            raise
        if kind.items == "tools":
            items = client._learn(items)
        return [entry for item in items if (entry := self._renamed(server, item, kind))], strictest(hints)

    def _renamed(self, server: str, item: Any, kind: _List) -> Any:
        old = getattr(item, kind.field)
        if kind.field == "name":
            new: str | None = self._prefixes.name(server, old)
        else:
            new = self._prefixes.uri(server, old)
        if new is None:
            client_logger().warning("left out, because it has no scheme: %s of server %s", old, server)
            return None
        return msgspec.structs.replace(item, **{kind.field: new})

    async def _skills(self) -> Raw:
        offering = {
            name: client
            for name, client in self.clients.items()
            if SKILLS in (client.capabilities.get("extensions") or {})
        }
        lists = await asyncio.gather(*(client.skills() for client in offering.values()))
        skills = [
            self._prefixes.outward(server, msgspec.to_builtins(skill))
            for server, entries in zip(offering, lists, strict=True)
            for skill in entries
        ]
        return Raw(msgspec.json.encode({"skills": skills}))

    # Changes.

    async def listen(self, interest: Interest, stream: ChangeStream) -> None:
        """Pass the changes of all servers to a stream, until one of them ends it."""
        feeds = []
        for server, part in self._interests(interest).items():
            changes = self.clients[server].listen(*part.kinds, uris=part.uris)  # type: ignore[arg-type]
            feeds.append((server, changes))
        tasks: list[asyncio.Task[None]] = []
        try:
            for _, changes in feeds:
                await changes.open()
            stream.acknowledge(interest.kinds, interest.uris)
            tasks += [
                asyncio.ensure_future(self._forward(server, changes, stream)) for server, changes in feeds
            ]
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, *(changes.close() for _, changes in feeds), return_exceptions=True)

    def _interests(self, interest: Interest) -> dict[str, Interest]:
        uris: dict[str, set[str]] = {name: set() for name in self.clients}
        for uri in interest.uris:
            try:
                server, inner = self._prefixes.split_uri(uri)
            except ValueError as error:
                raise ClientError(str(error)) from None
            uris[server].add(inner)
        parts = {
            name: Interest(interest.kinds.intersection(_announced(client)), frozenset(uris[name]))
            for name, client in self.clients.items()
        }
        return {name: part for name, part in parts.items() if any(part)}

    async def _forward(self, server: str, changes: Any, stream: ChangeStream) -> None:
        async for change in changes:
            stream.post(self._prefixes.change(server, change))


def _announced(client: Client) -> list[str]:
    return [kind for kind in KINDS if (client.capabilities.get(kind) or {}).get("listChanged")]


def _merge(into: dict[str, Any], capabilities: Mapping[str, Any]) -> None:
    """What any server offers."""
    for name, value in capabilities.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        elif value or name not in into:
            into[name] = dict(value) if isinstance(value, dict) else value


def _failure(failures: list[tuple[str, BaseException]]) -> BaseException:
    name, first = failures[0]
    if not all(isinstance(error, ClientError) for _, error in failures):
        return next(error for _, error in failures if not isinstance(error, ClientError))
    lines = "".join(f"\n  {other}: {error}" for other, error in failures[1:])
    problem = ConnectionFailed(f"server {name} cannot be opened: {first}{lines}")
    problem.__cause__ = first
    return problem
