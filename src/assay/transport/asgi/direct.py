"""HTTP for hosts that do not speak ASGI: calls the ASGI application once per request, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from assay.model.error import INVALID_REQUEST
from assay.protocol.http.asgi import Application, AsgiScope, Message
from assay.protocol.http.head_policy import JSON, Headers, Refusal
from assay.protocol.scope import Scope

from .lifespan import Lifespan
from .response import PartStream, Response

Text = str | bytes
HeaderValues = Mapping[str, str] | Mapping[bytes, bytes] | Iterable[tuple[Text, Text]]
HOP_BY_HOP: Final = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"upgrade"})
"""Headers about a connection, which is the host's. WSGI forbids applications to send them (PEP 3333)."""
ASGI: Final = {"version": "3.0", "spec_version": "2.4"}


class DirectHttp:
    """Serves requests one by one with an application that is made and started at the first of them.

    The application belongs to one event loop, because its sessions do. A host that uses a new loop for each
    request gets a new application each time, without the earlier sessions.
    """

    def __init__(self, make_app: Callable[[], Application], patience: float) -> None:
        self._make_app = make_app
        self._patience = patience
        self._lifespan: Lifespan | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def serve(self, asgi: AsgiScope, body: bytes) -> Response:
        lifespan = await self._started()
        request = DirectRequest(body, self._patience)
        task = asyncio.get_running_loop().create_task(request.run(lifespan.app, asgi))
        # The loop keeps only weak references, and the application may outlive this call.
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await request.response()

    async def _started(self) -> Lifespan:
        lifespan = self._lifespan_here()
        try:
            await lifespan.startup()
        except Exception:
            if self._lifespan is lifespan:
                self._lifespan = None  # the next request tries again
            raise
        return lifespan

    def _lifespan_here(self) -> Lifespan:
        """
        Raises:
            RuntimeError: the application runs in another event loop.
        """
        lifespan, loop = self._lifespan, asyncio.get_running_loop()
        if lifespan is None or lifespan.loop.is_closed():
            lifespan = self._lifespan = Lifespan(self._make_app(), loop)
        elif lifespan.loop is not loop:
            raise RuntimeError(
                "Server.http is in use on another event loop: call it from one loop. A host with threads "
                "runs that loop in a separate thread and uses asyncio.run_coroutine_threadsafe"
            )
        return lifespan

    async def close(self) -> None:
        """End all sessions and streams. A later request starts again."""
        lifespan, self._lifespan = self._lifespan, None
        if lifespan is None or not lifespan.loop.is_running():
            return  # a loop that has ended has cancelled everything
        closing = self._close(lifespan)
        if lifespan.loop is asyncio.get_running_loop():
            await closing
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(closing, lifespan.loop))

    async def _close(self, lifespan: Lifespan) -> None:
        await lifespan.shutdown()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


class DirectRequest:
    """One request: what the application receives, and what it sends."""

    def __init__(self, body: bytes, patience: float) -> None:
        self._body: bytes | None = body
        self._head: tuple[int, list[tuple[str, str]]] | None = None
        self._response: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._parts = PartStream(patience)

    async def response(self) -> Response:
        """The response, as soon as it is known whether it is a stream."""
        try:
            return await self._response
        except asyncio.CancelledError:
            self._parts.depart()
            raise

    async def run(self, app: Application, asgi: AsgiScope) -> None:
        failure: BaseException | None = None
        try:
            await app(asgi, self._receive, self._send)
        except BaseException as error:
            failure = error
            if isinstance(error, asyncio.CancelledError):
                failure = ConnectionResetError("the server stopped before it had answered")
                raise
            # Everything else reaches the host: it decides what its client sees.
        finally:
            self._finish(failure)

    def _finish(self, failure: BaseException | None) -> None:
        departed = self._parts.departed.is_set()
        self._parts.end(None if departed else failure)
        if not self._response.done():
            self._response.set_exception(failure or RuntimeError("the application sent no response"))

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._parts.departed.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._parts.departed.is_set():
            raise ConnectionResetError("the client is gone")
        if message["type"] == "http.response.start":
            self._head = message["status"], _read_headers(message.get("headers", ()))
            return
        assert self._head is not None
        body, more = message.get("body", b""), message.get("more_body", False)
        if not self._response.done():
            stream = self._parts if more else None
            self._response.set_result(Response(*self._head, b"" if more else body, stream))
            if not more:
                return
        if body:
            await self._parts.put(body)
        if not more:
            self._parts.end()


def _read_headers(pairs: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs if name not in HOP_BY_HOP
    ]


def make_scope(method: str, path: str, headers: HeaderValues, scope: Scope | None) -> AsgiScope | Response:
    """The ASGI scope of a request; a refusal if no HTTP server would have accepted its headers.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: the path does not begin with a slash.
    """
    if not isinstance(method, str):
        raise TypeError(f"method must be text, such as 'POST': {method!r}")
    if not isinstance(path, str) or not path.startswith("/"):
        raise ValueError(f"path must begin with a slash, as in '/mcp': {path!r}")
    target, _, query = path.partition("?")
    pairs = read_headers(headers)
    if any(character in part for pair in pairs for part in pair for character in b"\r\n\0"):
        return _refuse(Refusal(400, "a header has a line break", code=INVALID_REQUEST))
    if not (_is_text(method) and _is_text(path)):
        return _refuse(Refusal(400, "the method or the path is not valid text", code=INVALID_REQUEST))
    address = None if scope is None or scope.client_address is None else scope.client_address()
    asgi: dict[str, Any] = {
        "type": "http",
        "asgi": ASGI,
        "http_version": "1.1",
        "method": method.upper(),
        "scheme": "http",
        "path": unquote(target),
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": pairs,
        "client": None if address is None else (address, 0),
    }
    return asgi if scope is None else {**asgi, "assay": scope}


def _is_text(text: str) -> bool:
    """Whether it has no lone surrogates, which events in JSON may bring."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_headers(headers: HeaderValues) -> Headers:
    """Pairs of bytes with names in lower case, as in ASGI.

    Raises:
        TypeError: they are neither a mapping nor pairs of text or bytes.
    """
    pairs = headers.items() if isinstance(headers, Mapping) or hasattr(headers, "items") else headers
    try:
        return [(_encode(name).lower(), _encode(value).strip()) for name, value in pairs]
    except (TypeError, ValueError) as error:
        problem = f"headers must be a mapping or pairs of str or bytes: {error}"
        raise TypeError(problem) from None


def _encode(text: Text) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is neither")
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")  # a host that has decoded the bytes as UTF-8


def read_body(body: bytes | bytearray | memoryview | str | None) -> bytes:
    """
    Raises:
        TypeError: it is neither bytes nor text.
    """
    if isinstance(body, str):
        # Lone surrogates become invalid UTF-8, for the decoder to refuse.
        return body.encode("utf-8", "surrogatepass")
    if body is None or isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body or b"")
    raise TypeError(
        f"body must be the bytes or text that arrived, not {type(body).__name__}: json.dumps(…) encodes"
    )


def _refuse(refusal: Refusal) -> Response:
    return Response(refusal.status, _read_headers([JSON, *refusal.headers]), refusal.body())
