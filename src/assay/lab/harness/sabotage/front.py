"""What faults on HTTP stand behind: a server of the lab's own, one request a connection."""

from __future__ import annotations

import asyncio
import contextlib
from http.client import responses

from assay.lab.harness.broken_off import BrokenOff
from assay.lab.harness.http_text import CRLF, HEAD_END, parse_head
from assay.lab.harness.saboteur import Request, Response


class Front:
    """Listens on a free port. Whoever inherits says how a request is served."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, request: Request, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def start(self) -> str:
        """Returns the URL of the endpoint."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}{self._path}"

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            # Hanging up on either side ends the exchange, as it would without us in between; so does `stop`,
            # which nobody else has to hear of.
            with contextlib.suppress(ConnectionError, EOFError, BrokenOff, asyncio.CancelledError):
                request = await _read_request(reader)
                await _unless_left(self.serve(request, writer), reader)
        finally:
            self._open.discard(task)
            writer.close()


async def _unless_left(work: object, reader: asyncio.StreamReader) -> None:
    """Serve until the driver hangs up, whichever comes first."""
    serving = asyncio.ensure_future(work)  # type: ignore[call-overload]
    leaving = asyncio.ensure_future(reader.read())
    try:
        await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        for task in (serving, leaving):
            task.cancel()
        await asyncio.gather(serving, leaving, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = parse_head(await reader.readuntil(HEAD_END))
    length = head.get("content-length")
    body = await reader.readexactly(int(length)) if length and length.isdecimal() else b""
    return Request(list(head.headers), head.method, head.target, body)


def send_head(writer: asyncio.StreamWriter, response: Response) -> None:
    phrase = responses.get(response.status, "Odd")
    lines = [f"HTTP/1.1 {response.status} {phrase}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    writer.write("\r\n".join(lines).encode("latin-1") + CRLF + CRLF)


async def send_whole(writer: asyncio.StreamWriter, response: Response, body: bytes) -> None:
    response.set("Content-Length", str(len(body)))
    send_head(writer, response)
    writer.write(body)
    await writer.drain()
