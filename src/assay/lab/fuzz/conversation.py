"""A conversation with the subject that runs one case after another, each recorded as if it were alone.

A case ends when its sentinel and every expected answer have come. If an answer is missing, the sentinel shows
whether the session still works, and a second connection whether the server does.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import msgspec

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import ROUND_TRIPS, Peer, encode
from assay.lab.harness.links.broken_off import BrokenOff, NoAnswer, Unreachable
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.links.link import Link, Sent
from assay.lab.harness.links.stdio import StdioLink
from assay.lab.harness.links.websocket import WebSocketLink
from assay.lab.harness.subject.process import Process
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, read_messages
from assay.lab.harness.trace.recorder import Recorder, Redaction
from assay.lab.harness.trace.trace import SENTINEL, STILL_OPEN, Trace
from assay.revisions.revision import Batching, Revision

from .ambiguity import CANCELLED, LISTENING, needs_answer
from .case import Case, Step
from .pending_answer import CHANNEL, PendingAnswers, answer_key

SCENARIO: Final = "fuzz"
MINE, OTHER = "1", "2"
"""The connection that a case runs on, and the one that shows whether the server still works."""
NO_ANSWER: Final = "no answer"
NOT_REACHED: Final = "not reached"
MAY_RUN_LONG: Final = "at leisure"
"""Marks the next frame as a call that makes a tool work for an unknown time."""
_NOWHERE: Final = Frame(0, 0.0, Sender.DRIVER, "", Kind.MARK)
GRACE: Final = 0.1
"""Seconds to wait for optional answers, which would otherwise be counted in the next case."""
AFTER_TIMEOUT: Final = 0.25
"""The fraction of the patience that is left after a timeout in the same case."""
STREAMS: Final = frozenset({"GET"})
"""HTTP methods whose response may stay open."""


class RewindableRecorder(Recorder):
    """A recorder for one case after another, each preceded by the opening of the session."""

    _opening = 0

    @property
    def count(self) -> int:
        """The number of frames."""
        return len(self._frames)

    def keep(self) -> None:
        """Keep the frames so far in front of every case."""
        self._opening = len(self._frames)

    def rewind(self) -> None:
        """Drop the frames of the last case."""
        del self._frames[self._opening :]
        self._bytes = sum(len(frame.raw) for frame in self._frames)


class FuzzConversation:
    def __init__(
        self, subject: Subject, revision: Revision, *, patience: float, redaction: Redaction | None = None
    ) -> None:
        name = (redaction or Redaction()).string(subject.name)
        self._recorder = RewindableRecorder(
            Header(revision.date, subject.transport, name, SCENARIO), redaction
        )
        self._subject = subject
        self._revision = revision
        self._patience = patience
        self._count = 0
        self._timed_out = False
        self._pending: dict[str, PendingAnswers] = {}
        self._peer = self._connection(MINE)
        self.spent = False
        """Set when the session cannot run another case."""

    def _connection(self, name: str) -> Peer:
        def connect(peer: Peer) -> Link:
            pending = self._pending[name] = PendingAnswers(peer)
            return self._subject.link(
                pending, self._recorder, self._revision, name=name, patience=self._patience
            )

        return Peer(self._recorder, self._revision, name=name, patience=self._patience, connect=connect)

    @property
    def process_id(self) -> int | None:
        """The server process, if each session has its own."""
        wire = self._peer.link.wire if isinstance(self._peer.link, StdioLink) else None
        return wire.process_id if isinstance(wire, Process) else None

    async def open(self) -> None:
        """
        Raises:
            BrokenOff: the server cannot be reached, or does not answer.
        """
        await self._peer.link.open()
        if await self._peer.handshake() is None:
            # In a revision without a handshake the server has not answered yet, and may still be starting.
            await self._sentinel(self._peer, self._pending[MINE])
            if not await self._pending[MINE].complete(self._patience):
                raise NoAnswer("the first request", self._patience)
        self._recorder.keep()

    async def close(self) -> None:
        self.spent = True
        link = self._peer.link
        if self._timed_out and isinstance(link, StdioLink) and isinstance(link.wire, Process):
            link.wire.kill()
        await self._peer.close()

    async def run(self, case: Case, patience: float, *, thorough: bool = False) -> Trace:
        """Run a case and return its trace, which begins with the opening of the session.

        With `thorough`, a second connection shows whether the server still works after a missing answer.
        """
        self._recorder.rewind()
        self._timed_out = False
        self._pending[MINE].begin(strict=case.together)
        sent: list[Sent] = []
        try:
            await self._send_case(case, sent, patience)
        except Unreachable as reason:
            self.spent = True
            self._mark(NOT_REACHED, reason=str(reason))
        except BrokenOff:
            pass  # the frames show how it ended
        except asyncio.CancelledError:
            self.spent = True
            raise
        complete = await self._complete(patience)
        quiet = not complete or await self._pending[MINE].quiet(min(patience, GRACE))
        await self._close_streams(sent)
        if not (complete and quiet) or self._peer.broken is not None or self._ends_session(case):
            self.spent = True
        if thorough and (not complete or (self._peer.broken is not None and not self._recorder.exits)):
            await self._try_second_connection(patience)
        return self._recorder.trace(closed=True)

    def _ends_session(self, case: Case) -> bool:
        """Whether the case deletes the session, breaks the framing, or opens a request that never ends."""
        on_websocket = isinstance(self._peer.link, WebSocketLink)
        on_http = isinstance(self._peer.link, HttpLink)
        return any(
            step.verb == "DELETE"
            or (on_websocket and not step.framed)
            or (not on_http and any(name.encode() in step.body for name in LISTENING))
            for step in case.steps
        )

    def _mark(self, label: str, **info: Any) -> None:
        self._recorder.mark(f"{MINE}/marks", label, **info)

    async def _send_case(self, case: Case, sent: list[Sent], patience: float) -> None:
        pending = self._pending[MINE]
        for step in case.steps:
            if step.may_run_long:
                self._mark(MAY_RUN_LONG, frame=self._recorder.count + 1)
            sent.append(await self._send(step))
            self._expect_answers(step, sent[-1])
            if not case.together:
                await self._wait_for_step(pending, step, sent[-1], patience)
        # The sentinel follows the answers, because it would otherwise be one of the concurrent requests.
        if case.together:
            await self._wait(pending, patience)
        await self._sentinel(self._peer, pending)

    async def _wait_for_step(self, pending: PendingAnswers, step: Step, sent: Sent, patience: float) -> None:
        if step.verb in STREAMS:
            await self._wait_for_head(pending, sent, patience)
        else:
            await self._wait(pending, patience)

    async def _wait_for_head(self, pending: PendingAnswers, sent: Sent, patience: float) -> None:
        """Like `Peer.taken`: a server may delay the head of a stream until it sends the first event."""
        for _ in range(ROUND_TRIPS):
            if not sent.is_settled:
                await self._sentinel(self._peer, pending)
                await self._wait(pending, patience)

    async def _wait(self, pending: PendingAnswers, patience: float) -> bool:
        """Wait for the expected answers, with less patience after a timeout in the same case."""
        complete = await pending.complete(patience * AFTER_TIMEOUT if self._timed_out else patience)
        self._timed_out = self._timed_out or not complete
        return complete

    async def _send(self, step: Step) -> Sent:
        link = self._peer.link
        if isinstance(link, HttpLink) and step.verb != "POST":
            headers = {**link.session_headers(), **dict(step.headers)}
            return await link.call(step.verb, step.body, headers)
        if step.framed:
            return await link.send(step.body, _value(step.body), dict(step.headers))
        if isinstance(link, WebSocketLink):
            return await link.write(step.body, "bytes in place of a frame")
        assert isinstance(link, StdioLink)
        return await link.write(step.body)

    def _expect_answers(self, step: Step, sent: Sent) -> None:
        pending = self._pending[MINE]
        on_http = isinstance(self._peer.link, HttpLink)
        channel = sent.channel if on_http else None
        is_frame = isinstance(self._peer.link, WebSocketLink) and not step.framed
        messages = [] if is_frame else _messages(step)
        requests = [
            message for message in messages if needs_answer(message) or self._is_batch_request(message)
        ]
        for message in requests:
            pending.expect(answer_key(message.id), channel)
        listening = step.verb in STREAMS or any(message.method in LISTENING for message in messages)
        if on_http and not requests and not listening:
            pending.expect((CHANNEL, sent.channel), channel)
        if any(message.method == CANCELLED for message in messages):
            pending.make_optional()
        if not on_http and not requests and any(map(_may_be_answered, messages)):
            pending.allow()

    def _is_batch_request(self, message: Message) -> bool:
        """Whether the message is a request in a batch, in a revision with batches."""
        batches = self._revision.batching is Batching.ACCEPTED and message.place is not None
        return batches and needs_answer(msgspec.structs.replace(message, place=None))

    async def _sentinel(self, peer: Peer, pending: PendingAnswers) -> None:
        self._count += 1
        name = f"{SENTINEL}{peer.name}-{self._count}"
        method = "ping" if "ping" in self._revision.requests else "server/discover"
        message = {"jsonrpc": "2.0", "id": name, "method": method, "params": declared(self._revision, {}, {})}
        sent = await peer.link.send(encode(message), message, {})
        on_http = isinstance(peer.link, HttpLink)
        pending.expect(answer_key(name), sent.channel if on_http else None)

    async def _complete(self, patience: float) -> bool:
        if await self._wait(self._pending[MINE], patience):
            return True
        self._mark(NO_ANSWER, waited=patience)
        return False

    async def _close_streams(self, sent: list[Sent]) -> None:
        """Close the responses that are still open, so that none of their frames come in the next case."""
        link = self._peer.link
        if not isinstance(link, HttpLink):
            return
        for request in sent:
            if not request.is_finished:
                self._recorder.mark(request.channel, STILL_OPEN)
            await link.abort(request)

    async def _try_second_connection(self, patience: float) -> None:
        """Check on a new connection whether the server still works."""
        other = self._connection(OTHER)
        try:
            await other.link.open()
            other.patience = patience
            await other.handshake()
            await self._sentinel(other, self._pending[OTHER])
            await self._pending[OTHER].complete(patience)
        except Unreachable as reason:
            self._mark(NOT_REACHED, reason=str(reason).partition("\n")[0])
        except BrokenOff:
            pass  # the trace shows the missing answer
        finally:
            await other.close()


def _value(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _messages(step: Step) -> list[Message]:
    bodies = [step.body] if step.framed else step.body.split(b"\n")
    return [message for body in bodies if body.strip() for message in _read(body)]


def _read(body: bytes) -> list[Message]:
    """The messages of a body. JSON that only lenient parsers accept is read as they do."""
    strict = list(read_messages(_NOWHERE, body))
    if strict[0].value is not None:
        return strict
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return strict
    return [Message(_NOWHERE, body, value, "not read alike by all")]


def _may_be_answered(message: Message) -> bool:
    """Whether a server may answer the message, after any time."""
    return message.place is not None or (message.shape is Shape.REQUEST and message.method not in LISTENING)
