"""Serving an endpoint as a process of its own, by the name of a transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .port import Endpoint
from .stdio import serve_stdio

Announce = Callable[[str], None]


def run(endpoint: Endpoint, transport: str = "stdio", **options: Any) -> None:
    """
    Raises:
        ValueError: there is no such transport.
        MissingExtra: the transport needs a package that is not installed.
        OSError: the address cannot be listened on.
    """
    serve = TRANSPORTS.get(transport)
    if serve is None:
        raise ValueError(f"unknown transport: {transport!r}; one of {', '.join(TRANSPORTS)}")
    serve(endpoint, **options)


def _run_stdio(endpoint: Endpoint, **options: Any) -> None:
    if options:
        raise TypeError(f"stdio takes no options: {', '.join(options)}")
    serve_stdio(endpoint)


def _run_http(endpoint: Endpoint, **options: Any) -> None:
    from .http_server import serve_http

    serve_http(endpoint, **options)


def _run_http_plain(endpoint: Endpoint, **options: Any) -> None:
    _run_http(endpoint, stream="off", **options)


TRANSPORTS: dict[str, Callable[..., None]] = {
    "stdio": _run_stdio,
    "http": _run_http,
    "http-plain": _run_http_plain,
}
