"""What a client can connect to: a server object, a URL, or a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.model.client_limits import ClientLimits
from assay.model.error import MissingExtra
from assay.transport.client.port import Authorizer, Link

from .stdio import Stdio

if TYPE_CHECKING:
    import ssl

    from assay.client.auth.selection import Auth
    from assay.transport.client.memory import LocalServer
    from assay.transport.client.proxy import ProxyOption


if TYPE_CHECKING:
    Target = LocalServer | str | Stdio | Mapping[str, Any] | PathLike[str]


class ServerEntry(Struct, frozen=True):
    """One server of a configuration."""

    target: str | Stdio
    headers: Mapping[str, str] | None = None
    auth: str | None = None
    """A token, or `oauth`."""


class Servers(Struct, frozen=True):
    """Several servers of a configuration, by name."""

    entries: Mapping[str, ServerEntry]


def resolve(
    target: Any, headers: Mapping[str, str] | None, auth: Auth | None = None
) -> tuple[Any, Mapping[str, str] | None, Auth | None]:
    """A configuration as the server, or the `Servers`, that it names, with its headers and authorization
    unless the user passed others; other targets as they are.

    Raises:
        TypeError, ValueError: the configuration is invalid.
        OSError: it cannot be read.
    """
    is_path = isinstance(target, PathLike) or (
        isinstance(target, str) and "://" not in target and target.endswith(".json")
    )
    if not is_path and not isinstance(target, Mapping):
        return target, headers, auth
    from .configuration import read_configuration

    entries = read_configuration(target)
    if len(entries) == 1:
        [entry] = entries.values()
        both = {**(entry.headers or {}), **(headers or {})}
        return entry.target, both or None, entry.auth if auth is None else auth
    if headers or auth is not None:
        raise TypeError("headers= and auth= are for one server: write them into the configuration")
    return Servers(entries), None, None


class HttpOptions(Struct, frozen=True):
    headers: Mapping[str, str] | None = None
    tls: ssl.SSLContext | None = None
    authorizer: Authorizer | None = None
    proxy: ProxyOption = None
    resume: float = 10.0


def link_factory(target: Any, limits: ClientLimits, options: HttpOptions) -> Callable[[], Link]:
    """Makes links to a target. Mistakes in it are noticed here, before anything is opened.

    Raises:
        TypeError: not a target.
        ValueError: a URL, header or command that cannot be used.
    """
    if isinstance(target, str):
        return _url_links(target, limits, options)
    if isinstance(target, Servers):
        return _no_link
    if options.headers or options.tls or options.proxy:
        raise TypeError("headers=, tls= and proxy= are for servers with a URL")
    if isinstance(target, Stdio):
        return _child_links(target, limits)
    if hasattr(target, "open_session") and hasattr(target, "handle") and not isinstance(target, type):
        from assay.transport.client.memory import MemoryLink

        return lambda: MemoryLink(target, limits)
    from .hint import not_a_target

    raise TypeError(not_a_target(target))


def _no_link() -> Link:
    raise TypeError("several servers have a link each")


def _child_links(target: Stdio, limits: ClientLimits) -> Callable[[], Link]:
    from assay.transport.client.child import ChildLink

    return lambda: ChildLink(target.process_command, limits, target.take_started)


def _url_links(url: str, limits: ClientLimits, options: HttpOptions) -> Callable[[], Link]:
    from assay.transport.client.url import read_address

    if "://" not in url:
        from .hint import not_a_url

        raise ValueError(not_a_url(url))
    address = read_address(url)
    try:
        from assay.transport.client.http_head import check_headers
        from assay.transport.client.proxy import proxy_for
        from assay.transport.client.url_link import UrlOptions

        names = {name.lower() for name in check_headers(options.headers or {})}
        if options.authorizer is not None and "authorization" in names:
            raise ValueError("pass auth= or the header Authorization, not both")
        proxy = proxy_for(address, options.proxy)
        reached = UrlOptions(options.headers, options.tls, options.authorizer, proxy, options.resume)
        if address.scheme in ("ws", "wss"):
            from assay.transport.client.websocket import WebSocketLink

            return lambda: WebSocketLink(address, limits, reached)
        from assay.transport.client.http import HttpLink

        return lambda: HttpLink(address, limits, reached)
    except ImportError as error:
        raise MissingExtra('clients of a URL need httptools: pip install "assay-mcp[http]"') from error
