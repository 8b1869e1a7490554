"""The client's Streamable HTTP transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing.sse import SseParser, SseTooLong
from assay.revisions.revision import Opening

from .failure import ConnectionBroken, EndpointMissing, SessionLost, StepFailed
from .mirrored_header import mirrored
from .transport import PendingCall
from .web import StreamedResponse, WebClient

if TYPE_CHECKING:
    from .client import ScriptedClient

SESSION: Final = "Mcp-Session-Id"
VERSION: Final = "MCP-Protocol-Version"
BOTH: Final = f"{JSON}, {EVENT_STREAM}"
MOST_TRIES: Final = 10
"""Limits the challenges and redirects of a request, and the reconnections of a stream."""
DEFAULT_RETRY: Final = 0.2
"""Seconds before it reconnects to a stream without a `retry` field."""
HEAD_PATIENCE: Final = 2.0
"""Seconds to wait for the response head of the GET stream."""


class HttpClientTransport:
    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self.web = WebClient(client)
        self.url = client.setup.url
        self.session: str | None = None
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Does nothing: each request has its own connection."""

    async def opened(self) -> None:
        if not self.client.behaviour.opens_stream or not self.client.revision.http.resumable:
            return
        await self._stop_listening()
        started = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(started))
        with suppress(TimeoutError):
            async with asyncio.timeout(HEAD_PATIENCE):
                await started.wait()

    async def close(self) -> None:
        await self._stop_listening()
        if self.session is not None and self.client.behaviour.ends_session:
            with suppress(StepFailed, TimeoutError):
                async with asyncio.timeout(HEAD_PATIENCE), self._call("DELETE") as reply:
                    await reply.read()

    async def _stop_listening(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    # -- requests ----------------------------------------------------------------------------------------

    async def send(self, body: bytes, message: Any, call: PendingCall | None) -> None:
        url = self.url
        for _ in range(MOST_TRIES):
            async with self._call("POST", self._mirrored(message), body, url) as reply:
                if reply.status in (401, 403) and reply.head.get("www-authenticate") is not None:
                    await self._authorize(reply, call)
                elif reply.status in (307, 308) and self.client.behaviour.follows_redirects:
                    url = urljoin(url, reply.head.get("location") or "")
                else:
                    return await self._take(reply, call)
        raise StepFailed(f"{url} answered {MOST_TRIES} times with a challenge or a redirect")

    async def _authorize(self, reply: StreamedResponse, call: PendingCall | None) -> None:
        with nullcontext() if call is None else call.timeout_paused():
            await self.client.authorize(await reply.read())

    def _mirrored(self, message: Any) -> dict[str, str]:
        client = self.client
        if not isinstance(message, dict) or not client.behaviour.mirrors:
            return {}
        return mirrored(client.revision, message, client.tools)

    def _call(
        self, method: str, extra: dict[str, str] | None = None, body: bytes = b"", url: str | None = None
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        accepted = {"POST": BOTH, "GET": EVENT_STREAM}.get(method)
        headers = {} if accepted is None else {"Accept": accepted}
        if method == "POST":
            headers["Content-Type"] = JSON
        if (version := self._version()) is not None and self.client.behaviour.sends_version:
            headers[VERSION] = version
        if self.session is not None and self.client.behaviour.sends_session:
            headers[SESSION] = self.session
        request = Request(
            headers=[*headers.items(), *(extra or {}).items()], method=method, target=url or self.url
        )
        self.client.add_credentials(request)
        return self.web.call(method, request.target, request.headers, body)

    def _version(self) -> str | None:
        revision = self.client.revision
        if revision.opening is Opening.PER_REQUEST:
            return revision.date
        return self.client.agreed if revision.http.version_header else None

    # -- responses ---------------------------------------------------------------------------------------

    async def _take(self, reply: StreamedResponse, call: PendingCall | None) -> None:
        """Read the response to a POST."""
        if call is not None and call.method == "initialize" and reply.status == 200:
            self.session = reply.head.get(SESSION)
        if reply.status == 404 and self.session is not None and self.client.behaviour.renews_session:
            raise SessionLost("the server does not know the session")
        if reply.head.media_type == EVENT_STREAM and reply.status == 200:
            await self._follow(reply, call)
        elif reply.head.media_type == JSON:
            self.client.receive((await reply.read()).body)
        if reply.status >= 300 and (call is None or not call.answer.done()):
            error = EndpointMissing if reply.status in (400, 404, 405) else StepFailed
            raise error(f"the server answered with HTTP status {reply.status}")
        if call is not None and not call.answer.done():
            raise ConnectionBroken(f"the response to {call.method} ended without an answer")

    async def _follow(self, reply: StreamedResponse, call: PendingCall | None) -> None:
        """Read an event stream to its end; reconnect while the answer is missing."""
        parser = SseParser(MAX_BYTES)
        await self._read(reply, parser)
        for _ in range(MOST_TRIES):
            if call is None or call.answer.done() or not self._resumes(parser):
                return
            await self._wait(parser)
            async with self._call("GET", self._last(parser)) as resumed:
                if resumed.status != 200:
                    raise ConnectionBroken(f"resuming the stream failed with HTTP status {resumed.status}")
                await self._read(resumed, parser)

    def _resumes(self, parser: SseParser) -> bool:
        able = self.client.revision.http.resumable and self.client.behaviour.resumes
        return able and bool(parser.last_event_id)

    def _last(self, parser: SseParser) -> dict[str, str]:
        named = parser.last_event_id and self.client.behaviour.names_last_event
        return {"Last-Event-ID": parser.last_event_id} if named else {}

    async def _wait(self, parser: SseParser) -> None:
        if self.client.behaviour.honours_retry:
            await asyncio.sleep(DEFAULT_RETRY if parser.retry_ms is None else parser.retry_ms / 1000)

    async def _read(self, reply: StreamedResponse, parser: SseParser) -> None:
        """Handle the events of a response. A broken stream is not an error: the client may resume it."""
        with suppress(ConnectionBroken, SseTooLong):
            async for piece in reply.pieces():
                for event in parser.feed(piece):
                    if event.event == "message" and event.data:
                        self.client.receive(event.data)

    # -- the GET stream ----------------------------------------------------------------------------------

    async def _listen(self, started: asyncio.Event) -> None:
        """Read the stream until the server refuses it or cannot be reached."""
        parser = SseParser(MAX_BYTES)
        try:
            async for reply in self._streams(parser):
                started.set()
                await self._read(reply, parser)
        except StepFailed:
            pass
        finally:
            started.set()

    async def _streams(self, parser: SseParser) -> AsyncIterator[StreamedResponse]:
        for _ in range(MOST_TRIES):
            async with self._call("GET", self._last(parser)) as reply:
                if reply.status != 200 or reply.head.media_type != EVENT_STREAM:
                    return
                yield reply
            if not self.client.behaviour.resumes:
                return
            await self._wait(parser)
