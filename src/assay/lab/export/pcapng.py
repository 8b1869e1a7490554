"""pcapng, for Wireshark: HTTP and WebSocket as the TCP connections that they would be on one machine, and
lines of standard streams as packets of a link type that `contrib/wireshark/mcp.lua` reads. Findings are
comments of packets.

Transfer and content coding are removed when traffic is recorded: heads are written without them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from assay.lab.harness.links.http_text import CRLF, HEAD_END
from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.protocol.framing import websocket as ws

from .moment import notes, seconds_of

BINARY: Final = True
_RAW_IP, _USER0 = 101, 147
_SYN, _FIN, _PSH, _ACK = 2, 1, 8, 16
_CLIENT, _SERVER = bytes((127, 0, 0, 1)), bytes((127, 0, 0, 2))
_PORT: Final = 80
_FIRST_PORT: Final = 20_000
_PORTS: Final = 40_000
_SEGMENT: Final = 60_000
"""Bytes of payload that one packet carries."""
_MOST_COMMENT: Final = 4000
_CODING: Final = re.compile(rb"(?im)^(transfer-encoding|content-encoding|content-length)[ \t]*:[^\r\n]*\r\n")
_NO_MASK: Final = bytes(4)
_OPCODES: Final = {Kind.TEXT: ws.TEXT, Kind.BINARY: ws.BINARY}
_CONTROLS: Final = {"ping": ws.PING, "pong": ws.PONG, "close": ws.CLOSE}
_LINES: Final = frozenset({Kind.LINE, Kind.ERRORS})


def render(run: Run, traffic: Sequence[tuple[str, Trace]]) -> bytes:
    blocks = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    blocks += [_block(1, struct.pack("<HHI", link, 0, 0)) for link in (_RAW_IP, _USER0)]
    packets: list[tuple[float, bytes]] = []
    connection = 0
    for path, trace in traffic:
        comments = notes(run, path)
        connections: dict[str, _Connection] = {}
        for frame in trace.frames:
            if frame.channel not in connections:
                connections[frame.channel] = _Connection(_FIRST_PORT + connection % _PORTS)
                connection += 1
            comment = "\n".join(comments.get(frame.n, ()))
            moment = seconds_of(trace, frame)
            packets += (
                (moment, block) for block in _packets(frame, connections[frame.channel], moment, comment)
            )
    packets.sort(key=lambda packet: packet[0])
    return b"".join((*blocks, *(block for _, block in packets)))


def _packets(frame: Frame, connection: _Connection, moment: float, comment: str) -> Iterator[bytes]:
    if frame.kind in _LINES:
        yield _enhanced(1, moment, _line(frame), comment)
        return
    if frame.kind is Kind.END:
        ends = connection.end(frame.sender)
    else:
        data = connection.payload(frame)
        ends = connection.segments(frame.sender, data) if data else iter(())
    for packet in ends:
        yield _enhanced(0, moment, packet, comment)
        comment = ""


def _line(frame: Frame) -> bytes:
    """A byte for the sender (0 is the client), one for the stream (1 is standard error), and the line."""
    return bytes((frame.sender is Sender.SUBJECT, frame.kind is Kind.ERRORS)) + frame.raw


class _Connection:
    """One TCP connection, with its handshake before the first byte."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._next = {Sender.DRIVER: 1, Sender.SUBJECT: 1}
        self._is_open = False
        self._head = b""
        self._has_body = False

    def payload(self, frame: Frame) -> bytes:
        """The bytes that the frame has on the wire."""
        match frame.kind:
            case Kind.REQUEST:
                head, _, body = frame.raw.partition(HEAD_END)
                return _head(head, None if not body else len(body)) + body
            case Kind.HEAD:
                self._head = frame.raw.partition(HEAD_END)[0]
                is_over = b" 101 " in self._head[:16]
                head, self._head = self._head, b"" if is_over else self._head
                return head + HEAD_END if is_over else b""
            case Kind.BODY:
                head, self._head = self._head, b""
                return (_head(head, len(frame.raw)) if head else b"") + frame.raw
            case Kind.EVENT:
                head, self._head = self._head, b""
                return (_head(head, None) if head else b"") + frame.raw
            case Kind.TEXT | Kind.BINARY:
                return _websocket(frame, _OPCODES[frame.kind])
            case Kind.CONTROL if frame.info.get("what") in _CONTROLS:
                return _websocket(frame, _CONTROLS[str(frame.info["what"])])
        return b""

    def segments(self, sender: Sender, data: bytes) -> Iterator[bytes]:
        if not self._is_open:
            self._is_open = True
            yield self._packet(Sender.DRIVER, _SYN, before=True)
            yield self._packet(Sender.SUBJECT, _SYN | _ACK, before=True)
            yield self._packet(Sender.DRIVER, _ACK)
        for place in range(0, len(data), _SEGMENT):
            piece = data[place : place + _SEGMENT]
            yield self._packet(sender, _PSH | _ACK, piece)
            self._next[sender] += len(piece)

    def end(self, sender: Sender) -> Iterator[bytes]:
        head, self._head = self._head, b""
        if head:
            yield from self.segments(Sender.SUBJECT, _head(head, 0))
        if self._is_open:
            yield self._packet(sender, _FIN | _ACK)
            self._next[sender] += 1

    def _packet(self, sender: Sender, flags: int, data: bytes = b"", *, before: bool = False) -> bytes:
        other = Sender.SUBJECT if sender is Sender.DRIVER else Sender.DRIVER
        ports = (self._port, _PORT) if sender is Sender.DRIVER else (_PORT, self._port)
        addresses = (_CLIENT, _SERVER) if sender is Sender.DRIVER else (_SERVER, _CLIENT)
        number = 0 if before else self._next[sender]
        acknowledged = (0 if before and sender is Sender.DRIVER else self._next[other]) % 2**32
        tcp = struct.pack(">HHIIBBHHH", *ports, number % 2**32, acknowledged, 5 << 4, flags, 65535, 0, 0)
        size = 20 + len(tcp) + len(data)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0x4000, 64, 6, 0, *addresses)
        ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
        return ip + tcp + data


def _head(head: bytes, length: int | None) -> bytes:
    """The head with this length, or with none."""
    plain = _CODING.sub(b"", head + CRLF).removesuffix(CRLF)
    return plain + (b"" if length is None else b"\r\nContent-Length: %d" % length) + HEAD_END


def _websocket(frame: Frame, opcode: int) -> bytes:
    return ws.frame(opcode, frame.raw, mask=_NO_MASK if frame.sender is Sender.DRIVER else None)


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def _enhanced(interface: int, moment: float, data: bytes, comment: str) -> bytes:
    stamp = max(int(moment * 1_000_000), 0)
    head = struct.pack("<IIIII", interface, stamp >> 32, stamp & 0xFFFFFFFF, len(data), len(data))
    body = head + _padded(data)
    if comment:
        text = comment.encode("utf-8", "replace")[:_MOST_COMMENT].decode("utf-8", "ignore").encode()
        body += struct.pack("<HH", 1, len(text)) + _padded(text) + struct.pack("<HH", 0, 0)
    return _block(6, body)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)
