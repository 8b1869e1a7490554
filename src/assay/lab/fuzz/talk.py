"""A conversation with the subject in which case after case is tried, each recorded as if it were alone.

A case ends with an answered sentinel and everything that is owed. Where something does not come, the same
sentinel tells whether this conversation goes on, and a second connection whether the server does.
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
from assay.lab.harness.trace.redaction import Redaction
from assay.lab.harness.trace.trace import SENTINEL, STILL_OPEN, Trace
from assay.revisions.revision import Batching, Revision

from .case import Case, Step
from .certainty import CANCELLED, LISTENING, is_owed
from .hearing import CHANNEL, Hearing, owed_id
from .tape import Tape

SCENARIO: Final = "fuzz"
MINE, OTHER = "1", "2"
"""Names of the connection that a case is tried on, and of the one that shows whether the server is there."""
NO_ANSWER: Final = "no answer"
NOT_REACHED: Final = "not reached"
AT_LEISURE: Final = "at leisure"
"""The mark of a frame that comes next and sets a tool to work."""
_NOWHERE: Final = Frame(0, 0.0, Sender.DRIVER, "", Kind.MARK)
GRACE: Final = 0.1
"""Seconds for answers to what need not be answered: in the next case they would be taken for others."""
AFTERWARDS: Final = 0.25
"""The part of the patience that is left after something was waited for in vain."""
STREAMS: Final = frozenset({"GET"})
"""HTTP methods whose response may stay open."""


class Talk:
    def __init__(
        self, subject: Subject, revision: Revision, *, patience: float, redaction: Redaction | None = None
    ) -> None:
        shown = (redaction or Redaction()).words(subject.name)
        header = Header(revision.date, subject.transport, shown, SCENARIO)
        self._tape = Tape(header, redaction)
        self._subject = subject
        self._revision = revision
        self._patience = patience
        self._count = 0
        self._in_vain = False
        self._hearings: dict[str, Hearing] = {}
        self._peer = self._connection(MINE)
        self.spent = False
        """It cannot serve another case."""

    def _connection(self, name: str) -> Peer:
        def connect(peer: Peer) -> Link:
            hearing = self._hearings[name] = Hearing(peer)
            return self._subject.link(hearing, self._tape, self._revision, name=name, patience=self._patience)

        return Peer(self._tape, self._revision, name=name, patience=self._patience, connect=connect)

    @property
    def process_id(self) -> int | None:
        """Of the process that is talked to, where each conversation has its own."""
        wire = self._peer.link.wire if isinstance(self._peer.link, StdioLink) else None
        return wire.process_id if isinstance(wire, Process) else None

    async def open(self) -> None:
        """
        Raises:
            BrokenOff: there is nobody to talk to.
        """
        await self._peer.link.open()
        if await self._peer.greet() is None:
            # Nothing has been answered yet, and a process takes its time to come up.
            await self._sentinel(self._peer, self._hearings[MINE])
            if not await self._hearings[MINE].settle(self._patience):
                raise NoAnswer("the first request", self._patience)
        self._tape.keep()

    async def close(self) -> None:
        self.spent = True
        link = self._peer.link
        if self._in_vain and isinstance(link, StdioLink) and isinstance(link.wire, Process):
            link.wire.kill()
        await self._peer.close()

    async def hold(self, case: Case, patience: float, *, thorough: bool = False) -> Trace:
        """Try a case and return what passed, the opening of the conversation in front.

        With `thorough`, where something is missing a second connection tells how far that goes.
        """
        self._tape.rewind()
        self._in_vain = False
        self._hearings[MINE].begin(strict=case.together)
        sent: list[Sent] = []
        try:
            await self._say(case, sent, patience)
        except Unreachable as reason:
            self.spent = True
            self._mark(NOT_REACHED, reason=str(reason))
        except BrokenOff:
            pass  # the frames tell how it ended
        except asyncio.CancelledError:
            self.spent = True
            raise
        settled = await self._settled(patience)
        calm = not settled or await self._hearings[MINE].calm(min(patience, GRACE))
        await self._hang_up(sent)
        if not (settled and calm) or self._peer.broken is not None or self._ends_with(case):
            self.spent = True
        if thorough and (not settled or (self._peer.broken is not None and not self._has_exited)):
            await self._look_from_outside(patience)
        return self._tape.trace(closed=True)

    def _ends_with(self, case: Case) -> bool:
        """Whether the conversation is not what it was: its session ended, its frames broke off, or a request
        of it never ends."""
        on_socket = isinstance(self._peer.link, WebSocketLink)
        on_http = isinstance(self._peer.link, HttpLink)
        return any(
            step.verb == "DELETE"
            or (on_socket and not step.framed)
            or (not on_http and any(name.encode() in step.body for name in LISTENING))
            for step in case.steps
        )

    @property
    def _has_exited(self) -> bool:
        """Whether there is a process that ended: nothing is to be asked then."""
        return bool(self._tape.exits)

    def _mark(self, label: str, **info: Any) -> None:
        self._tape.mark(f"{MINE}/marks", label, **info)

    async def _say(self, case: Case, sent: list[Sent], patience: float) -> None:
        hearing = self._hearings[MINE]
        for step in case.steps:
            if step.at_leisure:
                self._mark(AT_LEISURE, frame=self._tape.count + 1)
            sent.append(await self._send(step))
            self._owe(step, sent[-1])
            if not case.together:
                await self._calm(hearing, step, sent[-1], patience)
        # What was at once stays at once: what is owed comes before the sentinel is sent, or not at all.
        if case.together:
            await self._wait(hearing, patience)
        await self._sentinel(self._peer, hearing)

    async def _calm(self, hearing: Hearing, step: Step, sent: Sent, patience: float) -> None:
        if step.verb in STREAMS:
            await self._taken(hearing, sent, patience)
        else:
            await self._wait(hearing, patience)

    async def _taken(self, hearing: Hearing, sent: Sent, patience: float) -> None:
        """As `Peer.taken`: a server may keep the head of a stream until it has something to say."""
        for _ in range(ROUND_TRIPS):
            if not sent.is_settled:
                await self._sentinel(self._peer, hearing)
                await self._wait(hearing, patience)

    async def _wait(self, hearing: Hearing, patience: float) -> bool:
        """Wait for what is owed; with less patience once it was in vain in this case."""
        came = await hearing.settle(patience * AFTERWARDS if self._in_vain else patience)
        self._in_vain = self._in_vain or not came
        return came

    async def _send(self, step: Step) -> Sent:
        link = self._peer.link
        if isinstance(link, HttpLink) and step.verb != "POST":
            usual = {**link.session_headers(), **dict(step.headers)}
            return await link.call(step.verb, step.body, usual)
        if step.framed:
            return await link.send(step.body, _value(step.body), dict(step.headers))
        if isinstance(link, WebSocketLink):
            return await link.write(step.body, "bytes in place of a frame")
        assert isinstance(link, StdioLink)
        return await link.write(step.body)

    def _owe(self, step: Step, sent: Sent) -> None:
        hearing = self._hearings[MINE]
        on_http = isinstance(self._peer.link, HttpLink)
        channel = sent.channel if on_http else None
        said = [] if isinstance(self._peer.link, WebSocketLink) and not step.framed else _messages(step)
        owed = [one for one in said if is_owed(one) or self._is_owed_member(one)]
        for message in owed:
            hearing.expect(owed_id(message.id), channel)
        listening = step.verb in STREAMS or any(one.method in LISTENING for one in said)
        if on_http and not owed and not listening:
            hearing.expect((CHANNEL, sent.channel), channel)
        if any(one.method == CANCELLED for one in said):
            hearing.excuse()
        if not on_http and not owed and any(map(_may_be_answered, said)):
            hearing.hope()

    def _is_owed_member(self, message: Message) -> bool:
        """A member of a batch, where there are batches."""
        batches = self._revision.batching is Batching.ACCEPTED and message.place is not None
        return batches and is_owed(msgspec.structs.replace(message, place=None))

    async def _sentinel(self, peer: Peer, hearing: Hearing) -> None:
        self._count += 1
        name = f"{SENTINEL}{peer.name}-{self._count}"
        method = "ping" if "ping" in self._revision.requests else "server/discover"
        message = {"jsonrpc": "2.0", "id": name, "method": method, "params": declared(self._revision, {}, {})}
        sent = await peer.link.send(encode(message), message, {})
        on_http = isinstance(peer.link, HttpLink)
        hearing.expect(owed_id(name), sent.channel if on_http else None)

    async def _settled(self, patience: float) -> bool:
        hearing = self._hearings[MINE]
        if await self._wait(hearing, patience):
            return True
        self._mark(NO_ANSWER, waited=patience)
        return False

    async def _hang_up(self, sent: list[Sent]) -> None:
        """Nothing of this case may come in the next. What is still open is told first."""
        link = self._peer.link
        if not isinstance(link, HttpLink):
            return
        for one in sent:
            if not one.is_finished:
                self._tape.mark(one.channel, STILL_OPEN)
            await link.leave(one)

    async def _look_from_outside(self, patience: float) -> None:
        """See on a connection of its own whether the server is still there."""
        other = self._connection(OTHER)
        try:
            await other.link.open()
            other.patience = patience
            await other.greet()
            await self._sentinel(other, self._hearings[OTHER])
            await self._hearings[OTHER].settle(patience)
        except Unreachable as reason:
            self._mark(NOT_REACHED, reason=str(reason).partition("\n")[0])
        except BrokenOff:
            pass  # a greeting without an answer is in the trace
        finally:
            await other.close()


def _value(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _messages(step: Step) -> list[Message]:
    bodies = [step.body] if step.framed else step.body.split(b"\n")
    return [one for body in bodies if body.strip() for one in _read(body)]


def _read(body: bytes) -> list[Message]:
    """The messages of a body; one that some can read and others cannot is read as the lenient do."""
    strict = list(read_messages(_NOWHERE, body))
    if strict[0].value is not None:
        return strict
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return strict
    return [Message(_NOWHERE, body, value, "not read alike by all")]


def _may_be_answered(message: Message) -> bool:
    """Whether a server may have something to say to it, in whatever time it takes."""
    return message.place is not None or (message.shape is Shape.REQUEST and message.method not in LISTENING)
