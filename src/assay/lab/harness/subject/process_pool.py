"""Reuses processes that a scenario left unchanged, because starting a server takes time.

A conversation continues after its handshake, whose frames also begin the new trace. Whether a scenario
changed anything is read from its trace (`is_unchanged`), not declared by the scenario. A reused process can
only lead to a pass: any other outcome is run again in a fresh process, and only that run counts.
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
"""Idle processes at most, over all revisions."""
CONTINUED: Final = "continued"
"""Mark of a connection whose process has served other scenarios before."""
READ_ONLY_METHODS: Final = frozenset(
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


class RecordedOpening(Struct, frozen=True):
    """The frames that opened a conversation, and the start time of their recording."""

    frames: tuple[Frame, ...]
    begun: float


class _Idle(Struct, frozen=True):
    peer: Peer
    opening: RecordedOpening
    meanwhile: Recorder
    """Records frames between scenarios; if there are any, the process cannot be reused."""
    after: tuple[str, ...]
    """Scenarios that the process has served."""


class ProcessPool:
    def __init__(self) -> None:
        self._idle: list[_Idle] = []

    async def take(
        self, revision: Revision, capabilities: dict[str, Any], recorder: Recorder, name: str
    ) -> tuple[Peer, RecordedOpening] | None:
        """An idle conversation with this revision and these capabilities, moved to another recording."""
        for idle in [*self._idle]:
            if idle.peer.revision is not revision or idle.peer.capabilities != capabilities:
                continue
            self._idle.remove(idle)
            if idle.peer.is_idle and not idle.meanwhile.trace(closed=True).frames:
                idle.peer.move(recorder, name)
                recorder.prepend(idle.opening.frames, idle.opening.begun, name)
                idle.peer.mark(CONTINUED, after=idle.after)
                return idle.peer, idle.opening
            await idle.peer.close()
        return None

    async def keep(self, peer: Peer, opening: RecordedOpening, trace: Trace) -> None:
        """Keep a conversation for the next scenario."""
        before = (mark.info["after"] for mark in trace.marks(CONTINUED) if mark.connection == peer.name)
        meanwhile = Recorder(Header(trace.header.revision, trace.transport, "", "between scenarios"))
        peer.move(meanwhile, peer.name)
        after = (*next(before, ()), trace.header.scenario)
        self._idle.append(_Idle(peer, opening, meanwhile, after))
        if len(self._idle) > MOST:
            await self._idle.pop(0).peer.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().peer.close()


def is_unchanged(trace: Trace, peer: Peer, facts: Facts) -> bool:
    """Whether a connection carried only well-formed requests that cannot have changed anything."""
    name = peer.name
    messages = [message for message in trace.messages if message.frame.connection == name]
    sent = [message for message in messages if not message.by_subject]
    lines = [frame for frame in trace.frames if frame.connection == name and frame.kind is Kind.LINE]
    exchanges = {id(exchange.request): exchange for exchange in trace.all_exchanges}
    return (
        all(message.is_response for message in messages if message.by_subject)
        and all(message.place is None for message in messages)
        and len(sent) == sum(line.sender is Sender.DRIVER for line in lines)
        and all(_harmless(message, exchanges.get(id(message)), peer, facts) for message in sent)
    )


def _harmless(message: Message, exchange: Exchange | None, peer: Peer, facts: Facts) -> bool:
    if message.shape is Shape.NOTIFICATION:
        return message.method == "notifications/initialized"
    if exchange is None or len(exchange.answers) != 1 or not peer.remembers(message.id):
        return False
    return exchange.result is None or message.method in READ_ONLY_METHODS or _reads(message, facts)


def _reads(message: Message, facts: Facts) -> bool:
    names = [tool.get("name") for tool in facts.read_only_tools]
    return message.method == "tools/call" and message.params.get("name") in names
