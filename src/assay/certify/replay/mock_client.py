"""A recording as a mock client: its requests are sent to any server, and nothing is compared."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from assay.lab.extra import require_lab
from assay.lab.harness.trace.trace import Trace
from assay.lab.subjects import as_target
from assay.lab.target import Target

from .bundle import Conversation, ReplayBundle
from .options import ReplayOptions
from .replay import ReplaySession

DEFAULTS: Final = ReplayOptions()


class PlayedConversation(Struct, frozen=True):
    conversation: Conversation
    trace: Trace
    broken: str = ""
    """Why it ended early, if it did."""

    @property
    def requests(self) -> int:
        return len(self.trace.all_exchanges)

    @property
    def answered(self) -> int:
        return sum(exchange.answer is not None for exchange in self.trace.all_exchanges)


async def play_client(
    bundle: ReplayBundle, target: Target | str, options: ReplayOptions = DEFAULTS
) -> list[PlayedConversation]:
    """Play the client's side of a bundle to a server.

    Raises:
        LabError: nothing was played; the subclass says why.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    session = ReplaySession(bundle, as_target(target), options)
    played = []
    for conversation in session.conversations:
        trace, broken = await session.perform(conversation)
        played.append(PlayedConversation(conversation, trace, str(broken or "")))
    return played
