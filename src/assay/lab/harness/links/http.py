"""Streamable HTTP: each body is a separate POST, whose response is read as it arrives."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

from assay.lab.harness.driver.message_meta import mirror_headers
from assay.lab.harness.subject.bearer import USUAL
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded, Recorder
from assay.lab.harness.trace.trace import STILL_OPEN, events_of
from assay.revisions.revision import Opening, Revision

from .broken_off import BrokenOff, Unreachable
from .http_call import Address, Ended, HeadRead, Part, PieceRead, connect, read_response
from .http_text import EVENT_STREAM, JSON, Head, with_bearer, write_request
from .identity import DEFAULT_IDENTITY, Identity
from .link import Inbox, Sent, note_unreachable
from .split import Blocks

_COMMENT: Final = re.compile(rb"(?:^|[\r\n]):")
ACCEPT: Final = f"{JSON}, {EVENT_STREAM}"
MAX_BODY: Final = 32 * 1024 * 1024


def has_comment(block: bytes) -> bool:
    return _COMMENT.search(block) is not None


class HttpLink:
    def __init__(
        self,
        url: str,
        inbox: Inbox,
        recorder: Recorder,
        revision: Revision,
        *,
        name: str,
        patience: float,
        headers: Mapping[str, str],
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        self.address = Address.of(url)
        self._identity = identity
        self._certificate = USUAL
        self.session: str | None = None
        self.version: str | None = None
        self._inbox = inbox
        self._recorder = recorder
        self._revision = revision
        self._name = name
        self._patience = patience
        self._headers = dict(headers)
        self._count = 0
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def is_local(self) -> bool:
        return self.address.is_local

    def use_token(self, token: str | None) -> None:
        self._headers = with_bearer(self._headers, token)

    @property
    def certificates(self) -> list[str]:
        """The kinds of client certificates that can be presented here."""
        return self._identity.kinds if self.address.secure else []

    def use_certificate(self, certificate: str) -> None:
        """Present a client certificate of this kind from now on."""
        self._certificate = certificate

    async def open(self) -> None:
        """Nothing to do: each request opens a connection."""

    def agreed(self, head: Head | None, version: str) -> None:
        self.session = head.get("mcp-session-id") if head else None
        self.version = version

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        return await self.call("POST", body, {**self.default_headers(message), **headers})

    def default_headers(self, message: Any = None) -> dict[str, str | None]:
        """The headers that a well-behaved client sends with this message."""
        headers: dict[str, str | None] = {"Content-Type": JSON, "Accept": ACCEPT}
        if self._revision.opening is Opening.PER_REQUEST:
            return {**headers, **mirror_headers(self._revision, message)}
        return {**headers, **self.session_headers()}

    def session_headers(self) -> dict[str, str | None]:
        version = self.version if self._revision.http.version_header else None
        return {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": version}

    async def call(
        self,
        method: str,
        body: bytes = b"",
        headers: Mapping[str, str | None] | None = None,
        *,
        target: str | None = None,
    ) -> Sent:
        """Send a request with these headers besides the required ones, and read its response in the
        background. `target` replaces the endpoint's path."""
        fields: dict[str, str | None] = {
            "Host": self.address.authority,
            "Connection": "close",
            **({"Content-Length": str(len(body))} if body or method == "POST" else {}),
            **self._headers,
            **(headers or {}),
        }
        present = [(name, value) for name, value in fields.items() if value is not None]
        path = self.address.target if target is None else target
        return await self.write(method, write_request(method, path, present, body))

    async def listen(self, *, after: str | None = None, **headers: str | None) -> Sent:
        """Open the stream of messages that belong to no request, or resume a stream after an event."""
        usual = {"Accept": EVENT_STREAM, **self.session_headers()}
        return await self.call("GET", headers={**usual, "Last-Event-ID": after, **headers})

    async def write(self, method: str, data: bytes) -> Sent:
        """Send bytes on a new connection. `method` names the channel and determines how a body is read."""
        reader, writer = await self._connect()
        self._count += 1
        channel = f"{self._name}/{method.lower()}-{self._count}"
        self._recorder.record(Sender.DRIVER, channel, Kind.REQUEST, data)
        sent = Sent(channel)
        response = _Response(self._inbox, self._recorder, sent)
        # Written before the task starts, so that a cancelled task has still sent the request; the callback
        # closes the connection in any case.
        writer.write(data)
        self._tasks[channel] = asyncio.create_task(_follow(response, reader, method))
        self._tasks[channel].add_done_callback(lambda _: writer.close())
        return sent

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await connect(self.address, self._patience, self._identity, self._certificate)
        except Unreachable as reason:
            note_unreachable(self._recorder, self._name, reason, is_local=self.is_local)
            raise

    async def follow(self, sent: Sent) -> bool:
        """Wait for the end of a response; on a timeout, put a mark into the trace."""
        finished = await sent.finished(self._patience)
        if not finished:
            self._recorder.mark(sent.channel, STILL_OPEN, waited=self._patience)
        return finished

    async def abort(self, sent: Sent) -> None:
        """Close the connection of a response that has not ended."""
        task = self._tasks.pop(sent.channel)
        if not task.done():
            self._recorder.record(Sender.DRIVER, sent.channel, Kind.END, clean=False)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(response: _Response, reader: asyncio.StreamReader, method: str) -> None:
    try:
        async for part in read_response(reader, method):
            response.take(part)
    except BrokenOff as reason:
        response.inbox.fail(reason)
    except OSError as error:
        response.take(Ended(f"the connection broke: {error.strerror or error}"))


class _Response:
    """A response in progress: records its parts and delivers its messages."""

    def __init__(self, inbox: Inbox, recorder: Recorder, sent: Sent) -> None:
        self.inbox = inbox
        self._recorder = recorder
        self._sent = sent
        self._blocks: Blocks | None = None
        self._body = bytearray()

    def take(self, part: Part) -> None:
        match part:
            case HeadRead(raw, head):
                self._record(Kind.HEAD, raw)
                self._sent.head = head
                if head.media_type == EVENT_STREAM:
                    self._blocks = Blocks()
                    self._sent.settle()
            case PieceRead(data) if self._blocks is not None:
                for block in self._blocks.feed(data):
                    self._take_block(block)
                if len(self._blocks) > MAX_BYTES:
                    raise Flooded
            case PieceRead(data):
                # Data beyond the limit is dropped; the recorder reports floods.
                self._body += data if len(self._body) < MAX_BODY else b""
            case Ended(problem):
                self._end(problem)

    def _take_block(self, block: bytes) -> None:
        frame = self._record(Kind.EVENT, block)
        if has_comment(block):
            self._sent.comment()
        for event in events_of(frame):
            self._sent.event_ids += [] if event.event_id is None else [event.event_id]
            if event.data:
                self.inbox.deliver(frame, event.data)
        self._sent.begin()

    def _end(self, problem: str | None) -> None:
        if self._blocks:
            self._record(Kind.EVENT, self._blocks.rest)
        if self._body:
            body = bytes(self._body)
            self.inbox.deliver(self._record(Kind.BODY, body), body)
        self._record(Kind.END, clean=problem is None, problem=problem or "")
        self._sent.finish()
        self.inbox.ended(self._sent.channel)

    def _record(self, kind: Kind, raw: bytes = b"", **info: Any) -> Frame:
        return self._recorder.record(Sender.SUBJECT, self._sent.channel, kind, raw, **info)
