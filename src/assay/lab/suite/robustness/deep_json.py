"""Deeply nested JSON: whether the server survives it, and its time compared with flat JSON of that size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Observation,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_body,
    scenario,
    scripted,
)
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import Peer, encode
from assay.lab.harness.links.broken_off import Gone
from assay.lab.harness.sabotage.alteration import decode
from assay.lab.harness.sabotage.saboteur import Conversation, LocalAnswer, newest_of_each_kind
from assay.lab.harness.sabotage.script import serve_minimal
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.transport import Transport
from assay.lab.suite.later_request import later_requests, open_afterwards
from assay.model.error import INTERNAL_ERROR, PARSE_ERROR
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision

EVERY: Final = frozenset({Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET})

# --- what is asked


SIZE: Final = 512 * 1024
ROUNDS: Final = 3
COST: Final = "cost"
FLAT, NESTED, OPEN = "flat", "deeply nested", "never closed"
RECORD: Final = b'{"name":"an ordinary record","place":[52.5,13.4],"tags":["plain","flat"],"valid":true}'
PADDING: Final[Mapping[str, bytes]] = {
    FLAT: b"[" + b",".join([RECORD] * (SIZE // (len(RECORD) + 1))) + b"]",
    NESTED: b"[" * (SIZE // 2) + b"]" * (SIZE // 2),
    OPEN: b"[" * SIZE,
}
"""JSON of about the same size."""
UNKNOWN: Final = "no/such/method"
PLACE: Final = b'"PADDING"'


@scenario(
    "Send flat and deeply nested JSON of the same size, and measure the time",
    exercises=("robustness.deep-json", "robustness.after-deep-json"),
    load=True,
    also=(),
)
async def drive_deep_json(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    for _ in range(ROUNDS):
        for name, padding in PADDING.items():
            peer = await _measure(stage, peer, name, _message(stage.revision, padding))


def _message(revision: Revision, padding: bytes) -> bytes:
    params = declared(revision, {"padding": "PADDING"}, {})
    message = {"jsonrpc": "2.0", "id": "padded", "method": UNKNOWN, "params": params}
    return encode(message).replace(PLACE, padding)


async def _measure(stage: Stage, peer: Peer, name: str, body: bytes) -> Peer:
    """Send a body and wait until the subject has dealt with it, which shows by the answer to a sentinel.

    Returns the peer to continue with: a WebSocket may be closed because of a message.
    """
    begin = time.monotonic()
    is_gone = False
    try:
        await peer.offer(body, headers=_mirrored(stage.revision))
        await peer.sentinel()
    except Gone:
        is_gone = True
    finally:
        peer.mark(COST, of=name, seconds=round(time.monotonic() - begin, 6))
    return await open_afterwards(stage) if is_gone else peer


def _mirrored(revision: Revision) -> dict[str, str | None]:
    """The headers of the message, which is sent as bytes."""
    return {"Mcp-Method": UNKNOWN} if revision.http.mirrored else {}


# --- how it is judged


RATIO: Final = 20.0
"""How many times longer than flat JSON nested JSON may take. Usual parsers need up to 15 times as long."""
FLOOR: Final = 0.5
"""Seconds that it may take in any case."""


@check("Deeply nested JSON takes about as long as flat JSON", requirements=("ROBUST-08",))
def judge_deep_json(trace: Trace) -> Iterator[Observation]:
    marks = {name: [mark for mark in trace.marks(COST) if mark.info.get("of") == name] for name in PADDING}
    flat = _median(marks[FLAT])
    for name in (name for name in PADDING if name != FLAT):
        cost = _median(marks[name])
        if flat is not None and cost is not None:
            expected = f"at most {RATIO:g} times the {flat:.4f} s that flat JSON of this size takes"
            holds = cost <= max(FLOOR, RATIO * flat)
            evidence = (*marks[FLAT], *marks[name])
            observed = f"{cost:.4f} s for JSON that is {name}"
            yield observe("ROBUST-08", holds, *evidence, expected=expected, observed=observed)


@check("A server survives deeply nested JSON", requirements=("ROBUST-09",))
def judge_after_deep_json(trace: Trace) -> Iterator[Observation]:
    begin = next((frame for frame in trace.frames if _is_deep(frame)), None)
    if begin is None:
        return
    yield from later_requests("ROBUST-09", trace, begin)
    for frame in trace.frames[begin.n :]:
        if frame.kind is Kind.EXIT:
            expected, observed = "a process that continues", f"an exit with status {frame.info.get('status')}"
            yield observe("ROBUST-09", False, begin, frame, expected=expected, observed=observed)


def _is_deep(frame: Frame) -> bool:
    return frame.sender is Sender.DRIVER and PADDING[NESTED][: SIZE // 4] in frame.raw


def _median(marks: list[Frame]) -> float | None:
    seconds = [mark.info.get("seconds") for mark in marks]
    numbers = [number for number in seconds if isinstance(number, float)]
    return median(numbers) if numbers else None


# --- what the checks must catch


MOST_DELAY: Final = 8.0
"""Seconds: less than the driver waits for an answer."""
ERROR: Final = {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": "nested too deeply"}}


@on_body(
    "takes long for deeply nested JSON",
    breaks="ROBUST-08",
    transports=EVERY,
    window=lambda revision: revision is HANDSHAKE[-1],
)
def deep_json_slow(body: bytes, context: FaultContext) -> bytes | LocalAnswer:
    memory = context.memory
    if len(body) < SIZE // 2:
        _measure_flat(memory)
        return body
    memory["is flat"] = RECORD in body
    is_nested = body.endswith(b"]]}}")
    memory["nested"] = memory.get("nested", 0) + is_nested
    # Two of three rounds decide the median, and the longer of two flat ones is not below theirs.
    slow = is_nested and memory["nested"] > 1
    delay = min(MOST_DELAY, max(FLOOR + 0.1, (RATIO + 5) * memory["seconds"])) if slow else 0.0
    return LocalAnswer([ERROR], status=400, delay=delay)


def _measure_flat(memory: dict[str, Any]) -> None:
    """How long the driver needs for flat JSON here, from one sentinel to the next: nested JSON must take
    longer in proportion."""
    now = time.monotonic()
    if memory.get("is flat"):
        memory["seconds"] = max(memory.get("seconds", 0.0), now - memory["sentinel"])
    memory.update({"sentinel": now, "is flat": False})


@on_body(
    "serves no request after deeply nested JSON",
    breaks="ROBUST-09",
    transports=EVERY,
    window=newest_of_each_kind,
)
def deep_json_breaks(body: bytes, context: FaultContext) -> bytes | LocalAnswer:
    if len(body) >= SIZE // 2:
        context.shared["is broken"] = context.shared.get("is broken") or RECORD not in body
        return LocalAnswer([ERROR], status=400)
    message = decode(body)
    if not context.shared.get("is broken") or not isinstance(message, dict) or "id" not in message:
        return body
    return LocalAnswer([error_reply(message, INTERNAL_ERROR, "stack overflow")])


@scripted("exits on deeply nested JSON", breaks="ROBUST-09")
async def deep_json_ends(conversation: Conversation, revision: Revision) -> None:
    # A script receives JSON that cannot be decoded as the end of its input.
    async for _ in serve_minimal(conversation, revision):
        pass
