"""What a client can connect to: a server object, a URL, or a command."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.model.client_limits import ClientLimits
from assay.model.error import MissingExtra
from assay.transport.client.port import Authorizer, Link

if TYPE_CHECKING:
    from assay.transport.client.memory import LocalServer


class Stdio:
    """A server as a command, whose process the client starts and ends.

        Stdio("uvx", "some-server", env={"TOKEN": "…"})

    Args:
        *command: The program and its arguments.
        env: Variables for the process, besides the few that programs need, such as PATH and HOME.
        cwd: The directory that it starts in.
        inherit_env: Whether it gets all variables of this process.

    Raises:
        TypeError: the command is empty or has something else than words, or env something else than texts.
    """

    __slots__ = ("command", "cwd", "env", "inherit_env")

    def __init__(
        self,
        *command: str | PathLike[str],
        env: Mapping[str, str] | None = None,
        cwd: str | PathLike[str] | None = None,
        inherit_env: bool = False,
    ) -> None:
        if not command or not all(isinstance(word, str | PathLike) for word in command):
            raise TypeError(
                "Stdio takes the program and its arguments as separate words: Stdio('uvx', 'name')"
            )
        for name, value in (env or {}).items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise TypeError(f"env must have texts: {name!r} is {type(value).__name__}")
        self.command = tuple(fspath(word) for word in command)
        self.env = None if env is None else dict(env)
        self.cwd = None if cwd is None else fspath(cwd)
        self.inherit_env = inherit_env

    def __repr__(self) -> str:
        return f"Stdio({', '.join(map(repr, self.command))})"


if TYPE_CHECKING:
    Target = LocalServer | str | Stdio | Mapping[str, Any] | PathLike[str]


class ServerEntry(Struct, frozen=True):
    """One server of a configuration."""

    target: str | Stdio
    headers: Mapping[str, str] | None = None


class Servers(Struct, frozen=True):
    """Several servers of a configuration, by name."""

    entries: Mapping[str, ServerEntry]


def resolve(target: Any, headers: Mapping[str, str] | None) -> tuple[Any, Mapping[str, str] | None]:
    """A configuration as the server, or the `Servers`, that it names; other targets as they are.

    Raises:
        TypeError, ValueError: the configuration is invalid.
        OSError: it cannot be read.
    """
    is_path = isinstance(target, PathLike) or (
        isinstance(target, str) and "://" not in target and target.endswith(".json")
    )
    if not is_path and not isinstance(target, Mapping):
        return target, headers
    from .configuration import read_configuration

    entries = read_configuration(target)
    if len(entries) == 1:
        [entry] = entries.values()
        return entry.target, {**(entry.headers or {}), **(headers or {})} or None
    if headers:
        raise TypeError("headers= are for one server: write headers into the configuration")
    return Servers(entries), None


class HttpOptions(Struct, frozen=True):
    headers: Mapping[str, str] | None = None
    tls: ssl.SSLContext | None = None
    authorizer: Authorizer | None = None


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
    if options.headers or options.tls:
        raise TypeError("headers= and tls= are for servers with a URL")
    if isinstance(target, Stdio):
        return _child_links(target, limits)
    if hasattr(target, "open_session") and hasattr(target, "handle"):
        from assay.transport.client.memory import MemoryLink

        return lambda: MemoryLink(target, limits)
    from .hint import not_a_target

    raise TypeError(not_a_target(target))


def _no_link() -> Link:
    raise TypeError("several servers have a link each")


def _child_links(target: Stdio, limits: ClientLimits) -> Callable[[], Link]:
    from assay.transport.client.child import ChildLink, Command

    command = Command(target.command, target.env, target.cwd, target.inherit_env)
    return lambda: ChildLink(command, limits)


def _url_links(url: str, limits: ClientLimits, options: HttpOptions) -> Callable[[], Link]:
    from assay.transport.client.url import read_address

    if "://" not in url:
        from .hint import not_a_url

        raise ValueError(not_a_url(url))
    address = read_address(url)
    headers, tls, authorizer = options.headers, options.tls, options.authorizer
    try:
        from assay.transport.client.http_head import check_headers

        names = {name.lower() for name in check_headers(headers or {})}
        if authorizer is not None and "authorization" in names:
            raise ValueError("pass auth= or the header Authorization, not both")
        if address.scheme in ("ws", "wss"):
            from assay.transport.client.websocket import WebSocketLink

            return lambda: WebSocketLink(address, limits, headers, tls, authorizer)
        from assay.transport.client.http import HttpLink

        return lambda: HttpLink(address, limits, headers, tls, authorizer)
    except ImportError as error:
        raise MissingExtra('clients of a URL need httptools: pip install "assay-mcp[http]"') from error
