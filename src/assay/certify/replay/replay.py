"""Replay a bundle: play the client's side of each conversation to a server, and compare what comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.access import Credentials
from assay.lab.error import InvalidOptions
from assay.lab.extra import require_lab
from assay.lab.harness.golden.rules import BadGolden, Rules
from assay.lab.harness.links.broken_off import BrokenOff, Gone
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.subjects import as_target, url_of
from assay.lab.target import Command, Target, Url

from .bundle import Conversation, ReplayBundle
from .comparison import Comparison, Divergence, compare
from .options import ReplayOptions
from .recording import conditions_of, perform
from .replayer import Replayer
from .secret import learn_secrets
from .seed import digest
from .seeded_target import subject_for

DEFAULTS: Final = ReplayOptions()


class ReplayedConversation(Struct, frozen=True):
    conversation: Conversation
    trace: Trace
    """What happened this time."""
    comparison: Comparison
    broken: str = ""
    """Why the conversation ended early, if it did."""


class ReplayResult(Struct, frozen=True):
    conversations: list[ReplayedConversation]
    environment: list[str]
    """Names of variables that the recording depends on and that differ now."""

    @property
    def pairs(self) -> int:
        """Requests of the client, each with all that the server sent for it."""
        return sum(each.comparison.pairs for each in self.conversations)

    @property
    def matched(self) -> int:
        return sum(each.comparison.matched for each in self.conversations)

    @property
    def success_rate(self) -> float:
        return self.matched / self.pairs if self.pairs else 0.0

    @property
    def diverges(self) -> bool:
        return any(each.comparison.divergences for each in self.conversations)

    @property
    def is_complete(self) -> bool:
        """Whether every conversation was replayed to its end."""
        return self.pairs > 0 and not any(each.broken for each in self.conversations)


async def replay_bundle(
    bundle: ReplayBundle, target: Target | str, options: ReplayOptions = DEFAULTS
) -> ReplayResult:
    """Replay the conversations of a bundle with a server.

    Raises:
        LabError: nothing was replayed; the subclass says why.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    session = ReplaySession(bundle, as_target(target), options)
    return ReplayResult(
        [await session.replay(each) for each in session.conversations], changed_variables(bundle)
    )


class ReplaySession:
    def __init__(self, bundle: ReplayBundle, target: Target, options: ReplayOptions) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used, or select nothing.
        """
        self._bundle = bundle
        self._target = target
        self._timeout = options.timeout
        self._rules = rules_of(bundle, options.ignore)
        self._credentials = Credentials(options.access, url_of(target))
        learn_secrets(self._credentials.redaction)
        fitting = options.transport or _transports(target)
        self.conversations = selected(bundle, msgspec.structs.replace(options, transport=fitting))

    async def perform(self, conversation: Conversation) -> tuple[Trace, BrokenOff | None]:
        """Play the client's side of a conversation.

        Raises:
            LabError: the server did not start.
        """
        seeds = self._bundle.manifest.seeds.environment
        subject = subject_for(self._target, seeds, conversation.transport, self._credentials)
        conditions = await conditions_of(self._credentials, self._timeout)
        recorded = self._bundle.traces[conversation.file]
        converse = Replayer(recorded).converse
        recording = await perform(subject, Facts(conversation.revision), converse, conditions, self._target)
        return recording.trace, recording.broken

    async def replay(self, conversation: Conversation) -> ReplayedConversation:
        """The same, and compare what the server sent with the recording.

        Raises:
            LabError: the server did not start.
        """
        trace, broken = await self.perform(conversation)
        comparison = compare(self._bundle.traces[conversation.file], trace, self._rules.values)
        if broken is not None and not isinstance(broken, Gone):
            comparison = _without_missing(comparison)
        return ReplayedConversation(conversation, trace, comparison, str(broken or ""))


def _transports(target: Target) -> tuple[str, ...]:
    """The transports on which a target can be reached."""
    match target:
        case Command():
            return (Transport.STDIO,)
        case Url(url):
            return (Transport.WEBSOCKET,) if url.startswith("ws") else (Transport.HTTP, Transport.HTTP_SSE)
        case _:
            return (Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET)


def _without_missing(comparison: Comparison) -> Comparison:
    """Without frames that are missing because the conversation ended early: a time-out proves nothing. They
    still count as not matched."""
    present = [each for each in comparison.divergences if each.difference.frame_after is not None]
    return Comparison(comparison.pairs, comparison.matched, present, comparison.applied)


def rules_of(bundle: ReplayBundle, ignore: tuple[str, ...]) -> Rules:
    """
    Raises:
        InvalidOptions: a pointer is invalid.
    """
    try:
        return bundle.rules.and_ignore(ignore)
    except BadGolden as error:
        problem = str(error).replace("--golden-ignore", "--ignore")
        raise InvalidOptions(problem, "write a JSON Pointer such as /result/build") from error


def selected(bundle: ReplayBundle, options: ReplayOptions) -> list[Conversation]:
    """
    Raises:
        InvalidOptions: the bundle has no such conversation.
    """
    chosen = [
        each
        for each in bundle.manifest.conversations
        if each.transport in (options.transport or (each.transport,))
        and each.revision in (options.spec_version or (each.revision,))
    ]
    if not chosen:
        known = ", ".join(f"{each.transport} {each.revision}" for each in bundle.manifest.conversations)
        raise InvalidOptions("the bundle has no such conversation", f"it has {known}")
    return chosen


def changed_variables(bundle: ReplayBundle) -> list[str]:
    """Variables that the recording depends on and whose value differs now."""
    recorded = bundle.manifest.environment.items()
    return [name for name, value in recorded if digest(os.environ.get(name)) != value]


def divergences_of(result: ReplayResult) -> Iterator[tuple[Conversation, Divergence]]:
    for replayed in result.conversations:
        for divergence in replayed.comparison.divergences:
            yield replayed.conversation, divergence
