"""How a server is served: as a process, as an ASGI application, or request by request."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Literal, Unpack, cast, overload

from assay.model.error import CannotListen, CannotStartWorkers, LifespanFailed
from assay.protocol.scope import Scope

from .runner import make_app, run

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application
    from assay.transport.asgi.build import HttpOptions, RunOptions
    from assay.transport.asgi.direct import DirectHttp, HeaderValues
    from assay.transport.asgi.response import Response

    from .runnable import Runnable

NOT_STARTED: Final = 4
"""The exit code of a process whose server did not start; the commands use the same."""


class Hosting:
    """Base of `Server`: `run`, `asgi` and `http`."""

    _http_options: HttpOptions | None = None
    _direct: DirectHttp | None = None

    def asgi(self, **options: Unpack[HttpOptions]) -> Application:
        """The server as an ASGI application, to mount in FastAPI, Starlette or Django, or to run in any ASGI
        server. `assay.transport.asgi.build.HttpOptions` documents the options.

        Raises:
            TypeError: an option does not exist.
            ValueError: a value is invalid.
        """
        return make_app(self._runnable, **options)

    @overload
    def run(self, transport: Literal["stdio"] = "stdio") -> None: ...

    @overload
    def run(self, transport: Literal["http", "http-plain", "ws"], **options: Unpack[RunOptions]) -> None: ...

    def run(self, transport: str = "stdio", **options: Unpack[RunOptions]) -> None:
        """Serve until the client disconnects (stdio) or the process is stopped.

        If the address cannot be used, for example because another process listens there, or if the lifespan
        fails, this prints one line to standard error and ends the process with exit code 4.

        Args:
            transport: `stdio`, `http`, `http-plain` (no streams, no sessions) or `ws` (WebSocket and HTTP).
            **options: For all transports but stdio: `host`, `port`; `workers`, the number of processes, and
                `worker_timeout`; `access_log`; `announce`, a function that is called with the endpoint's URL;
                the files `tls_cert`, `tls_key` (unless it is in the first) and `tls_client_ca` (to require
                client certificates); and those of `asgi`.

        Raises:
            TypeError: an option does not exist; the message names the closest.
            ValueError: the transport is unknown, or a value is invalid.
            TlsError: a certificate or key cannot be used.
            MissingExtra: the transport needs a package that is not installed.
        """
        try:
            run(self._runnable, transport, **options)
        except (CannotListen, CannotStartWorkers, LifespanFailed) as error:
            # Not left to `SystemExit`: in a thread, its text would not be printed.
            fix = "" if isinstance(error, LifespanFailed) else f"; {error.fix}"
            print(f"error: {error}{fix}", file=sys.stderr)
            raise SystemExit(NOT_STARTED) from error

    @property
    def _runnable(self) -> Runnable:
        return cast("Runnable", self)

    async def http(
        self,
        method: str,
        path: str,
        headers: HeaderValues = (),
        body: bytes | str | None = b"",
        *,
        scope: Scope | None = None,
    ) -> Response:
        """Serve one HTTP request by the rules of `asgi`, for WSGI, serverless functions and other hosts.

        The first request starts the server; `stop` ends it. All requests must come from one event loop.

        Args:
            method: The method of the request, such as `POST`.
            path: Its path as the client sent it, with the query if there is one.
            headers: Its headers: a mapping, or pairs if a name can occur twice; text or bytes, in any case.
            body: Its body.
            scope: The caller, if the host has authenticated it: principal, scopes and state; and
                `client_address`, if the host knows the address.

        Returns:
            The response to send. If it has a `stream`, send each part at once, and call `close` if the client
            disconnects before the end. Invalid requests are responses, too, never exceptions.

        Raises:
            TypeError: the headers, the body or the scope have a wrong type.
            ValueError: the path does not begin with a slash.
            RuntimeError: the method is already in use on another event loop.
        """
        from assay.transport.asgi.direct import make_scope, read_body
        from assay.transport.asgi.response import Response

        if scope is not None and not isinstance(scope, Scope):
            raise TypeError(f"scope must be an assay.Scope, such as Scope(principal=…): {scope!r}")
        asgi = make_scope(method, path, headers, scope)
        data = read_body(body)
        return asgi if isinstance(asgi, Response) else await self._direct_http().serve(asgi, data)

    def configure_http(self, **options: Unpack[HttpOptions]) -> None:
        """Set the options of `http`; they are those of `asgi`. Call it before the first request.

        Raises:
            TypeError: an option does not exist.
            ValueError: a value is invalid.
            RuntimeError: a request has already been served.
        """
        from assay.transport.asgi.build import make_policy

        if self._direct is not None:
            raise RuntimeError("configure_http was called after the first request: call it before")
        make_policy(options)
        self._http_options = options

    def _direct_http(self) -> DirectHttp:
        if self._direct is None:
            from assay.transport.asgi.direct import DirectHttp

            options = self._http_options or {}
            self._direct = DirectHttp(lambda: self.asgi(**options), self._runnable.limits.write_timeout)
        return self._direct

    async def _stop_http(self) -> None:
        # Closing the application stops the server, which calls this again.
        direct, self._direct = self._direct, None
        if direct is not None:
            await direct.close()
