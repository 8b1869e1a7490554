"""Verification of a ledger, which detects every change."""

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.profile.ledger_entry import CHECKPOINT_TYPE, MAX_LINE
from assay.profile.ledger_reader import InvalidSegment, Reason, SegmentReader, VerifiedSegment, verify_segment
from assay.signing import canonical, dsse
from assay.signing.dsse import Role, Trust
from tests.profile.ledgers import (
    KEY,
    OTHER,
    TRUST,
    chained,
    checkpoints_of,
    lines_of,
    put_lines,
    rehashed,
    written,
)

LINES = 7
BOTH = Trust([(KEY.public, Role.DEVELOPER), (OTHER.public, Role.DEVELOPER)])


def refusal(path: Path, trust: Trust = TRUST) -> Reason:
    with pytest.raises(InvalidSegment) as tampered:
        verify_segment(path, trust)
    return tampered.value.reason


def test_a_segment_that_ended_in_order_is_complete(tmp_path: Path) -> None:
    path = written(tmp_path)
    segment = verify_segment(path, TRUST)
    head = json.loads(lines_of(path)[-1])["entryHash"]
    name = path.name.removesuffix(".jsonl")
    assert segment == VerifiedSegment(name, LINES, LINES, KEY.public.id, True, 0, head)
    assert segment.is_complete


def test_a_killed_process_leaves_lines_without_a_signature(tmp_path: Path) -> None:
    segment = verify_segment(written(tmp_path, killed=True), TRUST)
    assert (segment.lines, segment.signed, segment.closed) == (6, 5, False)
    assert not segment.is_complete


@pytest.mark.parametrize("ending", [".jsonl", ".checkpoints.jsonl"])
def test_nobody_waits_for_a_pipe(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path)
    pipe = path.with_name(path.name.removesuffix(".jsonl") + ending)
    pipe.unlink()
    os.mkfifo(pipe)
    assert refusal(path) == Reason.MALFORMED


def test_a_line_that_was_not_written_to_its_end_is_no_tampering(tmp_path: Path) -> None:
    path = written(tmp_path, killed=True)
    path.write_bytes(path.read_bytes()[:-10])
    segment = verify_segment(path, TRUST)
    assert (segment.lines, segment.signed, segment.torn > 0) == (5, 5, True)


def test_half_a_checkpoint_is_no_tampering(tmp_path: Path) -> None:
    path = written(tmp_path, killed=True)
    place = checkpoints_of(path)
    place.write_bytes(place.read_bytes()[:-10])
    assert (verify_segment(path, TRUST).signed) == 3


def test_without_a_pinned_key_nothing_counts_as_signed(tmp_path: Path) -> None:
    segment = verify_segment(written(tmp_path), Trust())
    assert (segment.lines, segment.signed, segment.key_id, segment.is_complete) == (LINES, 0, None, False)


def test_without_a_key_there_is_nothing_signed(tmp_path: Path) -> None:
    segment = verify_segment(written(tmp_path, None), TRUST)
    assert (segment.signed, segment.closed, segment.is_complete) == (0, True, False)


def test_names_are_not_in_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert b"ada@example.com" not in path.read_bytes()
    assert all(entry.line.principal.startswith("hmac:") for entry in [*SegmentReader(path)][1:-1])  # type: ignore[union-attr]


# Tampering with the entries: functions from lines to lines. `chained` recomputes all hashes, as anyone can.

Lines = list[bytes]


def changed(number: int, **members: Any) -> Callable[[Lines], Lines]:
    return lambda lines: [
        rehashed(line, **members) if at == number else line for at, line in enumerate(lines)
    ]


def edited(number: int, old: bytes, new: bytes) -> Callable[[Lines], Lines]:
    return lambda lines: [
        line.replace(old, new, 1) if at == number else line for at, line in enumerate(lines)
    ]


def forged(change: Callable[[Lines], Lines]) -> Callable[[Lines], Lines]:
    return lambda lines: chained(change(lines))


def swapped(lines: Lines) -> Lines:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


ENTRIES: dict[str, tuple[Callable[[Lines], Lines], Reason]] = {
    "a word of an entry": (edited(2, b"tool-1", b"tool-9"), Reason.WRONG_HASH),
    "a digest of an entry": (
        edited(2, b'"effectsHash":"sha256:', b'"effectsHash":"sha256:0'),
        Reason.WRONG_HASH,
    ),
    "the time of an entry": (edited(3, b'"time":"2', b'"time":"3'), Reason.WRONG_HASH),
    "who did it": (edited(3, b'"principal":"hmac:', b'"principal":"hmac:0'), Reason.WRONG_HASH),
    "the hash of an entry": (edited(2, b'"entryHash":"sha256:', b'"entryHash":"sha256:f'), Reason.WRONG_HASH),
    "a tier, with its hash": (changed(4, retentionTier="legal-hold"), Reason.WRONG_HEAD),
    "a target, with its hash": (changed(3, target="other"), Reason.BROKEN_CHAIN),
    "the settings, with their hash": (changed(0, time="2026-01-01T00:00:00.000Z"), Reason.WRONG_HEAD),
    "an entry taken out": (lambda lines: lines[:3] + lines[4:], Reason.WRONG_NUMBER),
    "an entry put in twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], Reason.WRONG_NUMBER),
    "two entries in each other's place": (swapped, Reason.WRONG_NUMBER),
    "a number": (changed(3, seq=30), Reason.WRONG_NUMBER),
    "the first line taken out": (lambda lines: lines[1:], Reason.NOT_OPENED),
    "the first line put in twice": (lambda lines: [lines[0], *lines], Reason.NOT_OPENED),
    "nothing left": (lambda lines: [], Reason.NOT_OPENED),
    "a line after the end": (lambda lines: [*lines, lines[3]], Reason.AFTER_THE_END),
    "an unknown member": (changed(2, note="hello"), Reason.MALFORMED),
    "a member missing": (changed(2, target=None), Reason.MALFORMED),
    "a member of another type": (changed(2, target=7), Reason.MALFORMED),
    "a name in clear": (changed(2, principal="ada@example.com"), Reason.MALFORMED),
    "no digest": (changed(2, payloadHash="sha256:"), Reason.MALFORMED),
    "no time": (changed(2, time="yesterday"), Reason.MALFORMED),
    "a space": (edited(2, b'":', b'": '), Reason.MALFORMED),
    "an empty line": (lambda lines: [*lines[:2], b"", *lines[2:]], Reason.MALFORMED),
    "no JSON": (lambda lines: [*lines[:2], b"{", *lines[2:]], Reason.MALFORMED),
    "no object": (lambda lines: [*lines[:2], b"[]", *lines[2:]], Reason.MALFORMED),
    "a line that is too long": (changed(2, target="x" * MAX_LINE), Reason.MALFORMED),
    "no hash": (lambda lines: [*lines[:2], b'{"seq":2}', *lines[3:]], Reason.MALFORMED),
    "the end cut off": (lambda lines: lines[:-1], Reason.ENTRIES_MISSING),
    "all but the first line cut off": (lambda lines: lines[:1], Reason.ENTRIES_MISSING),
    "forged: a word": (forged(changed(2, target="other")), Reason.WRONG_HEAD),
    "forged: an entry taken out": (forged(lambda lines: lines[:3] + lines[4:]), Reason.WRONG_HEAD),
    "forged: an entry put in": (forged(lambda lines: [*lines[:3], lines[2], *lines[3:]]), Reason.WRONG_HEAD),
    "forged: two in each other's place": (forged(swapped), Reason.WRONG_HEAD),
    "forged: the last line": (forged(changed(6, time="2026-01-01T00:00:00.000Z")), Reason.WRONG_HEAD),
    "forged: opened without a key": (forged(changed(0, keyId=None)), Reason.WRONG_HEAD),
}


@pytest.mark.parametrize("change", ENTRIES)
def test_entries_cannot_be_changed(change: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    tamper, reason = ENTRIES[change]
    put_lines(path, tamper(lines_of(path)))
    assert refusal(path) is reason


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(data=st.data())
def test_no_byte_of_the_entries_can_change(data: st.DataObject, tmp_path: Path) -> None:
    if not (paths := [*tmp_path.glob("*Z-*[0-9a-f].jsonl")]):
        paths = [written(tmp_path)]
    original = paths[0].read_bytes()
    text = bytearray(original)
    text[data.draw(st.integers(0, len(text) - 1))] ^= data.draw(st.integers(1, 255))
    paths[0].write_bytes(bytes(text))
    try:
        assert refusal(paths[0])
    finally:
        paths[0].write_bytes(original)


def test_a_segment_cannot_pass_for_another(tmp_path: Path) -> None:
    path = written(tmp_path)
    other = path.rename(path.with_name("20200101T000000Z-1-00000000.jsonl"))
    assert refusal(other) is Reason.RENAMED


def test_the_end_of_a_killed_segment_cannot_be_cut_below_what_was_signed(tmp_path: Path) -> None:
    path = written(tmp_path, killed=True)
    put_lines(path, lines_of(path)[:4])
    assert refusal(path) is Reason.ENTRIES_MISSING


def test_a_signed_line_cannot_pass_for_a_torn_one(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    assert refusal(path) is Reason.ENTRIES_MISSING


# Tampering with the checkpoints.


def signed(size: int, path: Path, key: Any = KEY, kind: str = CHECKPOINT_TYPE, **members: Any) -> bytes:
    """A checkpoint as the ledger signs it, except for some members."""
    payload = json.loads(base64.b64decode(json.loads(lines_of(checkpoints_of(path))[-1])["payload"]))
    return dsse.sign(canonical.encode({**payload, "size": size, **members}), key, kind)


CHECKPOINTS: dict[str, tuple[Callable[[Lines, Path], Lines], Reason]] = {
    "no envelope": (lambda lines, path: [b"{}", *lines], Reason.BAD_CHECKPOINT),
    "an empty line": (lambda lines, path: [*lines, b""], Reason.BAD_CHECKPOINT),
    "another signature": (
        lambda lines, path: [lines[0].replace(b'"sig":"', b'"sig":"A')],
        Reason.BAD_CHECKPOINT,
    ),
    "signed by another": (
        lambda lines, path: [*lines[:-1], signed(LINES, path, OTHER)],
        Reason.BAD_CHECKPOINT,
    ),
    "of another type": (lambda lines, path: [signed(LINES, path, KEY, "text/plain")], Reason.BAD_CHECKPOINT),
    "too long": (lambda lines, path: [b"x" * (MAX_LINE + 5)], Reason.BAD_CHECKPOINT),
    "an unknown member": (lambda lines, path: [signed(LINES, path, more=1)], Reason.BAD_CHECKPOINT),
    "over nothing": (lambda lines, path: [signed(0, path)], Reason.BAD_CHECKPOINT),
    "one twice": (lambda lines, path: [*lines, lines[-1]], Reason.CHECKPOINT_ORDER),
    "in another order": (lambda lines, path: lines[::-1], Reason.CHECKPOINT_ORDER),
    "over more lines than there are": (lambda lines, path: [*lines, signed(9, path)], Reason.ENTRIES_MISSING),
    "over fewer lines": (lambda lines, path: [signed(4, path)], Reason.WRONG_HEAD),
    "with another root": (
        lambda lines, path: [signed(LINES, path, rootHash="sha256:" + "0" * 64)],
        Reason.WRONG_ROOT,
    ),
}


@pytest.mark.parametrize("change", CHECKPOINTS)
def test_checkpoints_cannot_be_changed(change: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    tamper, reason = CHECKPOINTS[change]
    place = checkpoints_of(path)
    put_lines(place, tamper(lines_of(place), path))
    assert refusal(path) is reason


def test_checkpoints_of_another_segment_do_not_fit(tmp_path: Path) -> None:
    path, other = written(tmp_path / "one"), written(tmp_path / "two")
    checkpoints_of(path).write_bytes(checkpoints_of(other).read_bytes())
    assert refusal(path) is Reason.WRONG_HEAD


def test_a_trusted_key_cannot_sign_what_another_has_opened(tmp_path: Path) -> None:
    path = written(tmp_path)
    put_lines(checkpoints_of(path), [signed(LINES, path, OTHER)])
    assert refusal(path, BOTH) is Reason.OTHER_KEY


def test_without_its_checkpoints_nothing_is_signed(tmp_path: Path) -> None:
    path = written(tmp_path)
    checkpoints_of(path).unlink()
    segment = verify_segment(path, TRUST)
    assert (segment.signed, segment.is_complete) == (0, False)


def test_a_key_of_another_role_is_none(tmp_path: Path) -> None:
    assert refusal(written(tmp_path), Trust([(KEY.public, Role.HARNESS)])) is Reason.BAD_CHECKPOINT
