"""Recordings and replays as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from assay.certify.replay.bundle import Conversation, ReplayBundle
from assay.certify.replay.mock_client import PlayedConversation
from assay.certify.replay.replay import ReplayedConversation, ReplayResult, divergences_of
from assay.model.visible import visible, visible_lines

from .difference import frame_lines, line

MOST: Final = 50
"""Divergences that are written out."""


def recorded_lines(bundle: ReplayBundle, out: Path) -> Iterator[str]:
    manifest = bundle.manifest
    for each in manifest.conversations:
        yield f"recorded {_name(each)}: {each.frames} frames, {out / each.file}"
    seeds = manifest.seeds
    yield f"seeds: clock {seeds.clock}, random {seeds.random}, {seeds.timezone}, {seeds.locale}"
    count = len(manifest.conversations)
    yield visible(f"wrote {count} conversations with {manifest.server or 'the server'} to {out}")


def replayed_lines(result: ReplayResult) -> Iterator[str]:
    divergences = list(divergences_of(result))
    for conversation, divergence in divergences[:MOST]:
        yield visible(f"DIFFERS {_name(conversation)}: {line(divergence.fixture)}")
        yield from map(visible, frame_lines(divergence.difference, "recorded", "now"))
    if len(divergences) > MOST:
        yield f"DIFFERS and {len(divergences) - MOST} more; --format json has all"
    for each in result.conversations:
        yield visible(_conversation(each))
    for name in result.environment:
        yield f"note: the variable {name} has another value than when this was recorded"
    yield headline(result)


def headline(result: ReplayResult) -> str:
    verdict = "same as recorded" if result.is_complete else "incomplete"
    verdict = "differs from the recording" if result.diverges else verdict
    share = f"{100 * result.success_rate:.1f} %"
    return f"{verdict}: {result.matched} of {result.pairs} fixtures match ({share})"


def _conversation(replayed: ReplayedConversation) -> str:
    comparison = replayed.comparison
    broken = f"; broke off: {line(replayed.broken)}" if replayed.broken else ""
    return (
        f"replayed {_name(replayed.conversation)}: {comparison.matched} of {comparison.pairs} match{broken}"
    )


def _name(conversation: Conversation) -> str:
    return f"{conversation.transport} {conversation.revision}"


def played_lines(played: PlayedConversation) -> Iterator[str]:
    for exchange in played.trace.all_exchanges:
        yield visible(f"{_name(played.conversation)}: {exchange.method}: {line(str(exchange))}")
    broken = f"; broke off: {line(played.broken)}" if played.broken else ""
    answered = f"{played.answered} of {played.requests} requests answered"
    yield visible(f"played {_name(played.conversation)}: {answered}{broken}")


def as_json(result: ReplayResult) -> str:
    value = {
        "pairs": result.pairs,
        "matched": result.matched,
        "successRate": result.success_rate,
        "complete": result.is_complete,
        "environment": result.environment,
        "conversations": [
            {
                "transport": each.conversation.transport,
                "revision": each.conversation.revision,
                "pairs": each.comparison.pairs,
                "matched": each.comparison.matched,
                "broken": each.broken,
                "normalised": each.comparison.applied,
                "divergences": each.comparison.divergences,
            }
            for each in result.conversations
        ],
    }
    return visible_lines(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()) + "\n"
