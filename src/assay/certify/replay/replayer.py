"""Plays the client's side of a recording to a server.

A step is only taken after the answers that had arrived before it in the recording. Questions of the server
get the answers that the client gave.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.lab.harness.driver.inbound import usual_answer
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.golden.lane import is_sentinel
from assay.lab.harness.links.link import Sent
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace, events_of

from .renewal import Renewal
from .step import Action, Answers, Step, steps_of


class Replayer:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._steps = steps_of(trace)
        self._answers = Answers.of(trace)
        self._settled = {
            message.frame.connection
            for message in trace.messages
            if is_sentinel(message) and not message.by_subject
        }
        self._peers: dict[str, Peer] = {}
        self._waiting: list[tuple[Step, Peer, Pending]] = []
        self._notified = 0
        """Notifications of the recording that were awaited."""
        self._unsolicited = [message for message in trace.received if message.shape is Shape.NOTIFICATION]
        self._misses = False
        self._renewal = Renewal()
        self._streams: dict[str, Sent] = {}
        """The streams of this conversation, by the channel of the recording."""

    async def converse(self, stage: Stage) -> None:
        """
        Raises:
            BrokenOff: the server stopped answering.
        """
        for step in self._steps:
            await self._wait_until(step.frame.n)
            peer = self._peers.get(step.connection) or await self._connect(stage, step.connection)
            await self._take(peer, step)
        await self._wait_until(len(self._trace.frames))

    async def _connect(self, stage: Stage, connection: str) -> Peer:
        peer = await stage.connect()
        peer.is_open = connection in self._settled
        for (name, method), answers in self._answers.by_question.items():
            if name == connection:
                peer.responders[method] = _responder(method, answers)
        self._peers[connection] = peer
        return peer

    async def _wait_until(self, frame: int) -> None:
        """Wait for what had arrived before this frame of the recording."""
        waiting, self._waiting = self._waiting, []
        for step, peer, pending in waiting:
            if step.answer is None or step.answer.frame.n > frame:
                self._waiting.append((step, peer, pending))
                continue
            reply = await peer.answer(pending)
            if reply.message is not None:
                self._renewal.learn(step.answer, reply.message)
            if step.messages[0].method == "initialize":
                version = reply.result.get("protocolVersion")
                peer.link.agreed(reply.head, version if isinstance(version, str) else peer.revision.date)
        await self._wait_notified(frame)

    async def _wait_notified(self, frame: int) -> None:
        """Wait for notifications, until one is missing: the comparison reports that."""
        while self._notified < len(self._unsolicited) and not self._misses:
            message = self._unsolicited[self._notified]
            peer = self._peers.get(message.frame.connection)
            if message.frame.n > frame or peer is None:
                break
            self._misses = await peer.wait_for(message.method) is None
            self._notified += 1

    async def _take(self, peer: Peer, step: Step) -> None:
        match step.action:
            case Action.REQUEST:
                await self._request(peer, step)
            case Action.NOTIFY:
                message = self._renewed(step.messages[0])
                await peer.offer(message, headers=step.headers)
            case Action.BATCH:
                await peer.batch(*(self._renewed(message) for message in step.messages))
            case Action.LISTEN:
                await self._listen(peer, step)
            case Action.RAW:
                await peer.send(step.messages[0].body)

    async def _request(self, peer: Peer, step: Step) -> None:
        message = step.messages[0]
        params = self._renewed(message).get("params")
        pending = await peer.start(message.method, params, request_id=message.id, headers=step.headers)
        self._waiting.append((step, peer, pending))

    def _renewed(self, message: Message) -> dict[str, Any]:
        fields = dict(message.fields)
        return {**fields, "params": self._renewal.renewed(fields["params"])} if "params" in fields else fields

    async def _listen(self, peer: Peer, step: Step) -> None:
        sent = await peer.http.listen(after=self._event_id(step.after))
        self._streams[step.frame.channel] = sent
        if step.after is None:
            peer.server_stream = sent
            await peer.wait_accepted(sent)

    def _event_id(self, recorded: str | None) -> str | None:
        """The id of the event at the same place of its stream as in the recording."""
        for channel, sent in self._streams.items() if recorded is not None else ():
            ids = _event_ids(self._trace, channel)
            if recorded in ids[: len(sent.event_ids)]:
                return sent.event_ids[ids.index(recorded)]
        return recorded


def _responder(
    method: str, answers: list[dict[str, Any]]
) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    left = list(answers)
    return lambda params: left.pop(0) if left else usual_answer(method)


def _event_ids(trace: Trace, channel: str) -> list[str]:
    events = (
        event
        for frame in trace.frames
        if frame.channel == channel and frame.kind is Kind.EVENT and frame.sender is Sender.SUBJECT
        for event in events_of(frame)
    )
    return [event.event_id for event in events if event.event_id is not None]
