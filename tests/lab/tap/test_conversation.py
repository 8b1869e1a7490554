"""One conversation on disk: complete after a kill, bounded, and understood after a rotation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.lab.error import InvalidOptions
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.tap.capture import Capture
from assay.lab.tap.conversation import Conversation
from assay.lab.tap.options import SMALLEST, TapOptions
from assay.lab.tap.view import GAP, settled, unjudged

OPTIONS = TapOptions(rotate=SMALLEST, frame=SMALLEST, keep=4 * SMALLEST)


def line(**fields: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"


def opened(capture: Capture) -> Conversation:
    conversation = capture.begin("stdio")
    assert conversation is not None
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    say(conversation, Sender.DRIVER, id=1, method="initialize", params=params)
    result = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": {"name": "s", "version": "1"},
    }
    say(conversation, Sender.SUBJECT, id=1, result=result)
    say(conversation, Sender.DRIVER, method="notifications/initialized")
    return conversation


def say(conversation: Conversation, sender: Sender, **fields: Any) -> None:
    conversation.record(sender, "1/lines", Kind.LINE, line(**fields))


def call(conversation: Conversation, number: int, size: int = 100) -> None:
    say(conversation, Sender.DRIVER, id=number, method="tools/call", params={"name": "t"})
    say(conversation, Sender.SUBJECT, id=number, result={"content": [{"type": "text", "text": "x" * size}]})


def test_what_was_flushed_is_on_disk_without_an_end(tmp_path: Path) -> None:
    conversation = opened(Capture(TapOptions(output=tmp_path), "s"))
    conversation.flush()

    trace = read_trace(conversation.path)
    assert [exchange.method for exchange in trace.all_exchanges] == ["initialize"]
    assert not settled(trace).header.closed


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    conversation = opened(Capture(TapOptions(output=tmp_path), "s"))
    conversation.flush()
    data = conversation.path.read_bytes()
    conversation.path.write_bytes(data[:-20])

    assert len(read_trace(conversation.path).frames) == 2


def test_a_continuation_begins_with_the_opening_and_open_requests(tmp_path: Path) -> None:
    capture = Capture(msgspec.structs.replace(OPTIONS, output=tmp_path, keep=64 * SMALLEST), "s")
    conversation = opened(capture)
    say(conversation, Sender.DRIVER, id="slow", method="tools/call", params={"name": "slow"})
    for number in range(2, 40):
        call(conversation, number, 4000)
    say(conversation, Sender.SUBJECT, id="slow", result={"content": []})
    capture.end(conversation)

    parts = sorted(capture.directory.glob("*.ndjson"), key=lambda path: (len(path.name), path.name))
    assert len(parts) > 2
    last = settled(read_trace(parts[-1]))
    assert not unjudged(last)
    assert not last.strays
    slow = [exchange for exchange in last.exchanges("tools/call") if exchange.request.id == "slow"]
    assert len(slow) == 1
    assert slow[0].answer is not None


def test_traces_together_stay_within_their_room(tmp_path: Path) -> None:
    capture = Capture(msgspec.structs.replace(OPTIONS, output=tmp_path), "s")
    conversation = opened(capture)
    for number in range(2, 400):
        call(conversation, number, 4000)
        capture.tick()
    capture.close()

    total = sum(path.stat().st_size for path in capture.directory.glob("*.ndjson"))
    assert total <= OPTIONS.keep + OPTIONS.rotate
    assert capture.removed > 10


def test_a_message_that_is_too_large_is_noted_in_its_place(tmp_path: Path) -> None:
    capture = Capture(msgspec.structs.replace(OPTIONS, output=tmp_path), "s")
    conversation = opened(capture)
    call(conversation, 2, SMALLEST)
    capture.end(conversation)

    gaps = list(read_trace(conversation.path).marks(GAP))
    assert [gap.info["kind"] for gap in gaps] == ["line"]
    assert gaps[0].info["bytes"] > SMALLEST


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    capture = Capture(TapOptions(output=tmp_path), "s")
    conversation = opened(capture)
    conversation._file = _full()
    conversation.flush()
    call(conversation, 2)
    capture.tick()

    assert "No space left" in capture.failed


def _full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def test_sizes_that_do_not_fit_are_refused_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptions, match="no room for 4 traces") as refusal:
        Capture(TapOptions(output=tmp_path, keep=1024), "s")
    assert "--keep" in refusal.value.fix
