"""Build the ASGI application from a user's options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Literal, TypedDict, Unpack, cast

from assay.model.strictness import LENIENT, Strictness
from assay.protocol.http.client_address import Network, read_networks
from assay.protocol.http.policy import LOOPBACK, HttpPolicy, Sessions
from assay.revisions.served import EVERY, Served
from assay.store.port import EventStore, SessionStore, SharedStore
from assay.transport.port import Endpoint

from .app import AsgiApp
from .operations import PATHS, Operations
from .sessions import HttpSessions


class HttpOptions(TypedDict, total=False):
    """Options of an HTTP endpoint."""

    path: str | None
    """The path of the endpoint, `/mcp` by default; `None` if the surrounding application routes requests."""
    stream: Literal["on", "off"]
    """`off` is plain HTTP: one JSON object per request, no sessions."""
    websocket: Literal["on", "off"]
    """Whether clients may connect by WebSocket, at the path and at `ws` below it; `on` by default."""
    sessions: Literal["optional", "required", "off"]
    """`optional` opens a session on `initialize` and also serves requests without one; `required` refuses
    those; `off` opens none, so that any number of workers can share the load."""
    allowed_hosts: Iterable[str]
    """Accepted values of `Host`; loopback names by default, `*` for any."""
    allowed_origins: Iterable[str]
    """Accepted values of `Origin`, in addition to those whose host is allowed; `*` for any."""
    trusted_proxies: Iterable[str]
    """Addresses and networks of proxies, such as `10.0.0.0/8`. Their `Forwarded` or `X-Forwarded-For` names
    the client whose share of a limit counts; none by default."""
    session_store: SessionStore
    """Stores sessions; in memory by default."""
    event_store: EventStore
    """Stores the messages of resumable streams; in memory by default."""
    heartbeat: float
    """Seconds of silence after which a comment is sent on a stream; 15 by default."""
    retry: float
    """Seconds that a client should wait before it resumes a stream that was closed early; 1 by default."""
    sweep_interval: float
    """Seconds between two checks for expired sessions; 60 by default."""
    probes: Literal["on", "off"]
    """Whether `/health` and `/ready` are served; `on` for `run`, `off` in an application of a host."""


class RunOptions(HttpOptions, total=False):
    """Options of a process that serves HTTP: those of the endpoint, and where it listens."""

    host: str
    """The address to listen on, `127.0.0.1` by default."""
    port: int
    """The port to listen on, 3000 by default; 0 for any free one."""
    announce: Callable[[str], None] | None
    """Called with the URL of the endpoint once the server listens."""
    tls_cert: str | PathLike[str] | None
    """A file with the certificate (PEM), to serve HTTPS."""
    tls_key: str | PathLike[str] | None
    """The file of its private key, unless that is in the same file."""
    tls_client_ca: str | PathLike[str] | None
    """A file with the authorities whose client certificates are required."""
    workers: int
    """How many processes serve on the port, supervised by this one; without it, this process serves alone."""
    worker_timeout: float
    """Seconds of silence after which a worker is killed and replaced; 30 by default."""
    access_log: Literal["off", "text", "json"]
    """A line on standard output for each HTTP request; off by default."""


def check_names(options: Iterable[str], known: type[HttpOptions]) -> None:
    """
    Raises:
        TypeError: an option does not exist; the message names the closest.
    """
    from difflib import get_close_matches

    names = list(known.__annotations__)
    for option in options:
        if option not in names:
            alike = get_close_matches(option, names, n=1)
            fix = f"did you mean {alike[0]}?" if alike else f"one of {', '.join(names)}"
            raise TypeError(f"unknown option: {option}; {fix}")


def build(endpoint: Endpoint, **options: Unpack[HttpOptions]) -> AsgiApp:
    """Build the ASGI application of an endpoint. Without stores in `options`, it must have one that several
    processes can use."""
    live: HttpSessions
    interval = options.get("sweep_interval", 60.0)
    if "session_store" in options:
        live = HttpSessions(endpoint, options["session_store"], options["event_store"], interval)
    else:
        # Imported here, because it is needed only with such a store.
        from assay.transport.asgi.distributed.sessions import SharedSessions

        live = SharedSessions(endpoint, cast("SharedStore", endpoint.store), interval)
    heartbeat, retry = options.get("heartbeat", 15.0), options.get("retry", 1.0)
    policy = make_policy(options, endpoint.strictness, endpoint.served)
    operations = Operations(None if endpoint.store is None else endpoint.store.check)
    return AsgiApp(endpoint, policy, live, heartbeat=heartbeat, retry=retry, operations=operations)


def make_policy(options: HttpOptions, strictness: Strictness = LENIENT, served: Served = EVERY) -> HttpPolicy:
    """
    Raises:
        TypeError: an option does not exist.
        ValueError: an option has an invalid value.
    """
    check_names(options, HttpOptions)
    path = options.get("path", "/mcp")
    for name in ("stream", "websocket", "probes"):
        if (value := options.get(name, "on")) not in ("on", "off"):
            raise ValueError(f'{name} must be "on" or "off": {value!r}')
    if path is not None and not path.startswith("/"):
        raise ValueError(f"path must start with a slash: {path!r}")
    sessions = Sessions(options.get("sessions", "required" if strictness.sessions else "optional"))
    streaming = options.get("stream") != "off"
    return HttpPolicy(
        path=path if path is None else path.rstrip("/"),
        streaming=streaming,
        websocket=options.get("websocket") != "off",
        sessions=sessions if streaming else Sessions.OFF,
        allowed_hosts=tuple(host.lower() for host in options.get("allowed_hosts", LOOPBACK)),
        allowed_origins=tuple(options.get("allowed_origins", ())),
        trusted_proxies=_read_proxies(options.get("trusted_proxies", ())),
        open_paths=PATHS if options.get("probes", "off") == "on" and path is not None else frozenset(),
        strictness=strictness,
        served=served,
    )


def _read_proxies(texts: Iterable[str]) -> tuple[Network, ...]:
    try:
        return read_networks(texts)
    except ValueError as error:
        raise ValueError(f"trusted_proxies must be addresses or networks: {error}") from None
