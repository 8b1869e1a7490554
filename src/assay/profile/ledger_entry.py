"""The lines of a ledger, each with a hash that links it to the previous one.

Every line is canonical JSON. `Entry` declares its fields in the order of the keys on the wire, so that
msgspec
writes that form directly, which is several times faster; a test compares it with `signing.canonical`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from assay.signing import canonical

from .digests import digest

ENTRIES: Final = ".jsonl"
CHECKPOINTS: Final = ".checkpoints.jsonl"
NAMES_KEY: Final = ".names.key"
"""Suffixes of a segment's files: entries, signed checkpoints, and the key of the keyed hashes."""

CHECKPOINT_TYPE: Final = "application/vnd.assay.ledger.checkpoint+json"
MAX_SEGMENTS: Final = 4096
MAX_LINE: Final = 16 * 1024
MAX_WORD: Final = 2048
FIRST: Final = "sha256:" + "0" * 64
"""The previous hash of the first entry."""

Digest = Annotated[str, Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]
KeyedHash = Annotated[str, Meta(pattern=r"\Ahmac:[0-9a-f]{64}\Z")]
Time = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z")]
Count = Annotated[int, Meta(ge=0)]
Target = Annotated[str, Meta(max_length=MAX_WORD)]
Word = Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How the segment was written; the loss window of a crash follows from it."""

    flush_seconds: float
    checkpoint_entries: Count
    checkpoint_seconds: float
    fsync: bool


class SegmentOpened(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """The first line of a segment."""

    event: Literal["opened"]
    prev: Digest
    seq: Count
    settings: Settings
    target: Word
    """The name of the segment."""
    time: Time
    key_id: Digest | None = None
    """The key that signs the checkpoints; `None`: they are not signed."""


class SegmentClosed(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line of a segment whose process ended normally."""

    event: Literal["closed"]
    prev: Digest
    seq: Count
    target: Word
    time: Time


class Entry(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename="camel",
    kw_only=True,
    gc=False,
):
    """An action."""

    effects_hash: Digest
    event: Word
    payload_hash: Digest
    prev: Digest
    principal: KeyedHash | None = None
    retention_tier: Word
    seq: Count
    session: KeyedHash | None = None
    target: Target
    time: Time


class Checkpoint(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The signed claim: the first `size` lines have this Merkle root, and the last of them this hash."""

    head: Digest
    root_hash: Digest
    size: Annotated[int, Meta(ge=1)]


Line = SegmentOpened | Entry | SegmentClosed
_KINDS: Final[dict[str, type[Line]]] = {"opened": SegmentOpened, "closed": SegmentClosed}
RESERVED: Final = frozenset(_KINDS)
"""Events that only the ledger writes."""

_encode: Final = msgspec.json.Encoder().encode
_DIGEST: Final = len(FIRST)
_BEFORE_EVENT: Final = len('{"effectsHash":"') + _DIGEST + len('",')


def encode_line(line: Line) -> tuple[bytes, str]:
    """The line with its hash, and the hash, which covers everything else in the line.

    In canonical JSON the hash goes directly before `event`.
    """
    if type(line) is Entry:
        body, at = _encode(line), _BEFORE_EVENT
    else:
        body, at = canonical.encode(msgspec.to_builtins(line)), 1
    hashed = digest(body)
    return b'%b"entryHash":"%b",%b\n' % (body[:at], hashed.encode(), body[at:]), hashed


def decode_line(line: bytes) -> tuple[Line, str]:
    """The content of a line, and its hash, which has been verified.

    Raises:
        ValueError: The line is not a ledger entry, or was changed.
    """
    # Any change of the content, and any other spelling of it, changes the hash or is not canonical.
    value = canonical.decode(line, MAX_LINE)
    claimed = value.pop("entryHash", None) if isinstance(value, dict) else None
    if claimed is None:
        raise ValueError("not a ledger entry")
    if claimed != digest(canonical.encode(value)):
        raise WrongHash("the content does not match its hash")
    return _convert(value), claimed


class WrongHash(ValueError):
    """A line was changed after it was written."""


def _convert(value: dict[str, Any]) -> Line:
    event = value.get("event")
    kind = _KINDS.get(event, Entry) if isinstance(event, str) else Entry
    return msgspec.convert(value, kind)


def segments(directory: Path) -> list[Path]:
    """The entry files of all segments, oldest first.

    Raises:
        OSError: The directory cannot be read.
    """
    paths = (path for path in directory.iterdir() if path.name.endswith(ENTRIES))
    return sorted(path for path in paths if not path.name.endswith(CHECKPOINTS))
