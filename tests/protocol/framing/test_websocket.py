"""WebSocket frames, compared with the sans-IO layer of `websockets`."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.frames import Close as OracleClose
from websockets.frames import Frame as OracleFrame
from websockets.frames import Opcode
from websockets.protocol import OPEN, SERVER, Protocol, Side

from assay.protocol.framing.websocket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    CONTROL_BYTES,
    GOING_AWAY,
    LOST,
    NO_CODE,
    NORMAL,
    NOT_TEXT,
    PING,
    PONG,
    PROTOCOL_ERROR,
    REASON_BYTES,
    TEXT,
    TOO_BIG,
    Close,
    Frame,
    FrameReader,
    MessageReader,
    Ping,
    Pong,
    Violation,
    WebSocketEvent,
    close_frame,
    frame,
    is_sendable,
    masked,
    read_close,
    text_frame,
)

LIMIT = 1 << 20
MASK = b"\x01\x80\xfe\x5a"
MASKS = st.binary(min_size=4, max_size=4)
CUTS = st.lists(st.integers(min_value=0), max_size=8)
PAYLOADS = st.one_of(
    st.binary(max_size=20),
    st.text(max_size=10).map(str.encode),
    st.sampled_from([bytes(n) for n in (0, 1, 124, 125, 126, 127, 300, 65535, 65536)]),
)
CODES = st.sampled_from([0, 999, 1000, 1001, 1004, 1005, 1006, 1011, 1014, 1015, 2999, 3000, 4999, 5000])
CLOSES = st.builds(lambda code, reason: code.to_bytes(2, "big") + reason, CODES, st.binary(max_size=5))
FRAMES = st.lists(
    st.builds(
        Frame,
        opcode=st.sampled_from([0, 1, 1, 1, 2, 8, 9, 10]) | st.integers(0, 15),
        payload=PAYLOADS | CLOSES,
        fin=st.booleans(),
        rsv=st.sampled_from([0] * 15 + [1, 2, 4]),
        mask=MASKS | MASKS | MASKS | st.none(),
    ),
    max_size=6,
)
GOOD = st.lists(
    st.tuples(st.sampled_from([PING, PONG]), st.binary(max_size=CONTROL_BYTES))
    | st.tuples(st.just(TEXT), st.text(max_size=200).map(str.encode))
    | st.tuples(st.just(BINARY), PAYLOADS),
    max_size=6,
).map(lambda pairs: [Frame(opcode, payload, mask=MASK) for opcode, payload in pairs])


def wire(frames: list[Frame]) -> bytes:
    return b"".join(
        frame(each.opcode, each.payload, fin=each.fin, rsv=each.rsv, mask=each.mask) for each in frames
    )


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def read(pieces: list[bytes], limit: int = LIMIT, *, masked: bool = True) -> list[WebSocketEvent]:
    reader = MessageReader(limit, masked=masked)
    return [received for piece in pieces for received in reader.feed(piece)]


def codes_of(events: list[WebSocketEvent]) -> list[WebSocketEvent | int]:
    """Replace violations by their codes: the reasons are specific to us."""
    return [event.code if isinstance(event, Violation) else event for event in events]


class Oracle:
    """Parses the same bytes with `websockets`, and converts the outcome to our types."""

    def __init__(self, data: bytes) -> None:
        self.events: list[WebSocketEvent | int] = []
        self._protocol = Protocol(SERVER, state=OPEN, max_size=None)
        self._parts: list[bytes] = []
        self._is_text = True
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if not self._take(event):
                return
        # It rejects a close inside a fragmented message, although RFC 6455, 5.4, allows control frames there.
        if self._protocol.close_rcvd is not None and self._protocol.parser_exc is not None:
            self.events.append(Close(self._protocol.close_rcvd.code, self._protocol.close_rcvd.reason))
        elif self._protocol.parser_exc is not None:
            assert self._protocol.close_sent is not None
            self.events.append(int(self._protocol.close_sent.code))

    def _take(self, event: Any) -> bool:
        assert isinstance(event, OracleFrame)
        data = bytes(event.data)
        if event.opcode in (Opcode.PING, Opcode.PONG):
            self.events.append(Ping(data) if event.opcode is Opcode.PING else Pong(data))
            return True
        if event.opcode is Opcode.CLOSE:
            parsed = OracleClose.parse(data)
            self.events.append(Close(int(parsed.code), parsed.reason))
            return True
        if event.opcode is not Opcode.CONT:
            self._parts, self._is_text = [], event.opcode is Opcode.TEXT
        self._parts.append(data)
        return self._finish() if event.fin else True

    def _finish(self) -> bool:
        payload = b"".join(self._parts)
        try:
            # Its sans-IO layer does not decode text.
            self.events.append(payload.decode() if self._is_text else payload)
        except UnicodeDecodeError:
            self.events.append(NOT_TEXT)
            return False
        return True


@given(frames=FRAMES, cuts=CUTS)
@example(frames=[Frame(TEXT, b"a", fin=False, mask=MASK), Frame(CLOSE, b"\x03\xe8", mask=MASK)], cuts=[])
@example(frames=[Frame(TEXT, bytes(127), mask=MASK), Frame(TEXT, b"\xff", mask=MASK)], cuts=[])
def test_any_frames_in_any_chunking_are_read_as_websockets_reads_them(
    frames: list[Frame], cuts: list[int]
) -> None:
    data = wire(frames)
    assert Oracle(data).events == codes_of(read(chunks(data, cuts)))


@given(data=st.binary(max_size=200), cuts=CUTS)
def test_arbitrary_bytes_are_read_alike_in_any_chunking(data: bytes, cuts: list[int]) -> None:
    whole = read([data])
    assert whole == read(chunks(data, cuts))
    assert all(not isinstance(event, Close | Violation) for event in whole[:-1])


@given(frames=FRAMES, cuts=CUTS)
def test_frame_reader_returns_every_frame_unchanged(frames: list[Frame], cuts: list[int]) -> None:
    reader = FrameReader(LIMIT)
    assert frames == [item for piece in chunks(wire(frames), cuts) for item in reader.feed(piece)]


@given(frames=GOOD)
def test_websockets_reads_what_we_write_for_either_role(frames: list[Frame]) -> None:
    for side, mask in ((Side.SERVER, MASK), (Side.CLIENT, None)):
        protocol = Protocol(side, state=OPEN, max_size=None)
        protocol.receive_data(wire([each._replace(mask=mask) for each in frames]))
        events: list[Any] = protocol.events_received()
        assert protocol.parser_exc is None
        assert [(each.opcode, each.payload) for each in frames] == [
            (event.opcode, bytes(event.data)) for event in events
        ]


@given(frames=GOOD, cuts=CUTS)
def test_client_reads_frames_without_masks(frames: list[Frame], cuts: list[int]) -> None:
    bare = wire([each._replace(mask=None) for each in frames])
    assert read([wire(frames)]) == read(chunks(bare, cuts), masked=False)
    for each in frames:
        assert codes_of(read([wire([each])], masked=False)) == [PROTOCOL_ERROR]


@given(payload=PAYLOADS, mask=MASKS)
def test_masking_twice_gives_the_payload(payload: bytes, mask: bytes) -> None:
    hidden = masked(payload, mask)
    assert hidden == bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
    assert payload == masked(hidden, mask)


@pytest.mark.parametrize("size", [4095, 4096, 4097, 8192, 10_001])
def test_long_payload_is_masked_byte_by_byte(size: int) -> None:
    payload, mask = bytes(number % 251 for number in range(size)), b"\x01\x80\xff\x10"
    assert masked(payload, mask) == bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


@given(payload=PAYLOADS)
def test_text_frame_is_the_plain_frame(payload: bytes) -> None:
    assert frame(TEXT, payload) == text_frame(payload)


@given(
    parts=st.lists(st.binary(max_size=30), min_size=1, max_size=8),
    pings=st.lists(st.binary(max_size=CONTROL_BYTES), max_size=3),
    limit=st.integers(0, 120),
)
def test_message_is_bounded_as_a_whole_whatever_its_fragments(
    parts: list[bytes], pings: list[bytes], limit: int
) -> None:
    last = len(parts) - 1
    frames = [Frame(PING, ping, mask=MASK) for ping in pings]
    for place, part in enumerate(parts):
        frames.insert(2 * place, Frame(CONTINUATION if place else BINARY, part, fin=place == last, mask=MASK))
    messages = [event for event in codes_of(read([wire(frames)], limit)) if not isinstance(event, Ping)]
    whole = b"".join(parts)
    assert messages == [whole if len(whole) <= limit else TOO_BIG]


def test_too_big_a_message_is_refused_by_its_head() -> None:
    for size in (126, 1 << 16, 1 << 40):
        head = bytes((0x81, 0xFF)) + size.to_bytes(8, "big") + MASK
        if size < 1 << 16:
            head = bytes((0x81, 0xFE)) + size.to_bytes(2, "big") + MASK
        assert codes_of(read([head], 100)) == codes_of(read([head[:-1], head[-1:]], 100)) == [TOO_BIG]
    assert FrameReader(100).feed(bytes((0x82, 0x7E, 0, 127))) == [
        Violation(TOO_BIG, "message too big: limit 100 bytes")
    ]


@pytest.mark.parametrize("limit", [130, 126, 10])
def test_unfragmented_message_is_bounded(limit: int) -> None:
    assert read([wire([Frame(TEXT, b"x" * limit, mask=MASK)])], limit) == ["x" * limit]
    assert codes_of(read([wire([Frame(TEXT, b"x" * (limit + 1), mask=MASK)])], limit)) == [TOO_BIG]


@pytest.mark.parametrize(
    "head",
    [
        bytes((0x81, 0xFE, 0, 125)),
        bytes((0x81, 0xFE, 0, 2)),
        bytes((0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF)),
        bytes((0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0)),
    ],
    ids=["two bytes for 125", "two bytes for 2", "eight bytes for 65,535", "the highest bit"],
)
def test_length_must_be_written_in_its_shortest_form(head: bytes) -> None:
    """RFC 6455, 5.2. Also if the input is split."""
    length = int.from_bytes(head[2:], "big")
    data = head + MASK + bytes(min(length, 70_000))
    assert codes_of(read([data])) == codes_of(read(chunks(data, [3, 5]))) == [PROTOCOL_ERROR]


def test_nothing_is_read_after_a_close_or_a_violation() -> None:
    text = wire([Frame(TEXT, b"more text", mask=MASK)])
    for end in (
        close_frame(mask=MASK),
        wire([Frame(3, b"", mask=MASK)]),
        wire([Frame(1, b"\xff", mask=MASK)]),
    ):
        reader = MessageReader(LIMIT, masked=True)
        assert len(reader.feed(end + text)) == 1
        assert reader.feed(text) == []
    raw = FrameReader(1)
    assert [type(item) for item in raw.feed(text + text)] == [Violation]
    assert raw.feed(wire([Frame(TEXT, b"", mask=MASK)])) == []


def test_empty_fragments_are_not_buffered() -> None:
    reader = MessageReader(LIMIT, masked=True)
    assert reader.feed(wire([Frame(TEXT, b"", fin=False, mask=MASK)])) == []
    for _ in range(1000):
        assert reader.feed(wire([Frame(CONTINUATION, b"", fin=False, mask=MASK)])) == []
    assert len(reader._parts) == 0
    assert reader.feed(wire([Frame(CONTINUATION, b"end", mask=MASK)])) == ["end"]


@given(code=st.integers(0, 65535), reason=st.text(max_size=30))
def test_close_frames_are_read_as_they_were_written(code: int, reason: str) -> None:
    if not is_sendable(code):
        with pytest.raises(ValueError, match="not a sendable close code"):
            close_frame(code, reason)
        return
    assert read([close_frame(code, reason, MASK)]) == [Close(code, reason)]


@given(reason=st.text(min_size=40))
def test_long_reason_is_truncated_between_characters(reason: str) -> None:
    (close,) = read([close_frame(GOING_AWAY, reason * 4)], masked=False)
    assert isinstance(close, Close)
    assert reason * 4 != close.reason
    assert (reason * 4).startswith(close.reason)
    assert REASON_BYTES - 3 <= len(close.reason.encode()) <= REASON_BYTES


def test_close_without_a_code_says_so() -> None:
    assert read_close(b"") == Close(NO_CODE, "")
    assert codes_of([read_close(b"\x03")]) == codes_of([read_close(LOST.to_bytes(2, "big"))]) == [1002]
    assert codes_of([read_close(NORMAL.to_bytes(2, "big") + b"\xff")]) == [NOT_TEXT]
