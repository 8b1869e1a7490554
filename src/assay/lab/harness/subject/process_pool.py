"""Processes that a scenario has left as it found them, kept for the next one: starting a server takes time.

A conversation is taken up again after its handshake, whose frames begin the new trace too. What a scenario
leaves behind is read off what passed (`left_as_found`), not promised by the scenario. And a shared process is
only ever good enough to pass: anything else is played again on a process of its own, and that counts.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.revisions.revision import Revision

from .facts import Facts

MOST: Final = 8
"""Processes that wait at once, over all revisions."""
CONTINUED: Final = "continued"
"""The mark on a connection whose process has served other scenarios before."""
READING: Final = frozenset(
    {
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    }
)


class Opening(Struct, frozen=True):
    """How a conversation was opened: its frames, and when the recording that holds them began."""

    frames: tuple[Frame, ...]
    begun: float


class _Spare(Struct, frozen=True):
    peer: Peer
    opening: Opening
    silence: Recorder
    """What came while nobody was there; with anything in it, the process is not as it was left."""
    after: tuple[str, ...]


class ProcessPool:
    def __init__(self) -> None:
        self._idle: list[_Spare] = []

    async def take(
        self, revision: Revision, capabilities: dict[str, Any], recorder: Recorder, name: str
    ) -> tuple[Peer, Opening] | None:
        """A conversation that was opened like this, moved to another recording."""
        for spare in [*self._idle]:
            if spare.peer.revision is not revision or spare.peer.capabilities != capabilities:
                continue
            self._idle.remove(spare)
            if spare.peer.is_idle and not spare.silence.trace(closed=True).frames:
                spare.peer.move(recorder, name)
                recorder.recall(spare.opening.frames, spare.opening.begun, name)
                spare.peer.mark(CONTINUED, after=spare.after)
                return spare.peer, spare.opening
            await spare.peer.close()
        return None

    async def keep(self, peer: Peer, opening: Opening, trace: Trace) -> None:
        """Let a conversation wait for the next scenario."""
        before = (one.info["after"] for one in trace.marks(CONTINUED) if one.connection == peer.name)
        silence = Recorder(Header(trace.header.revision, trace.transport, "", "between scenarios"))
        peer.move(silence, peer.name)
        after = (*next(before, ()), trace.header.scenario)
        self._idle.append(_Spare(peer, opening, silence, after))
        if len(self._idle) > MOST:
            await self._idle.pop(0).peer.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().peer.close()


def left_as_found(trace: Trace, peer: Peer, facts: Facts) -> bool:
    """Whether all that was said on a connection were well-formed requests that can have changed nothing."""
    name = peer.name
    messages = [one for one in trace.messages if one.frame.connection == name]
    said = [one for one in messages if not one.by_subject]
    lines = [one for one in trace.frames if one.connection == name and one.kind is Kind.LINE]
    exchanges = {id(one.request): one for one in trace.all_exchanges}
    return (
        all(one.is_response for one in messages if one.by_subject)
        and all(one.place is None for one in messages)
        and len(said) == sum(one.sender is Sender.DRIVER for one in lines)
        and all(_harmless(one, exchanges.get(id(one)), peer, facts) for one in said)
    )


def _harmless(message: Message, exchange: Exchange | None, peer: Peer, facts: Facts) -> bool:
    if message.shape is Shape.NOTIFICATION:
        return message.method == "notifications/initialized"
    if exchange is None or len(exchange.answers) != 1 or not peer.remembers(message.id):
        return False
    return exchange.result is None or message.method in READING or _reads(message, facts)


def _reads(message: Message, facts: Facts) -> bool:
    names = [tool.get("name") for tool in facts.read_only_tools]
    return message.method == "tools/call" and message.params.get("name") in names
