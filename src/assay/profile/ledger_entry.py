"""The lines of a ledger: what each holds, and the hash that ties it to the one before.

Every line is canonical JSON. `Entry` names its fields in the order of the keys on the wire, so that msgspec
writes that form at once, which is several times faster; a test holds it against `signing.canonical`.
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
"""How the files of a segment end: entries, signatures of them, the key of the hashes that stand for names."""

CHECKPOINT_TYPE: Final = "application/vnd.assay.ledger.checkpoint+json"
MAX_SEGMENTS: Final = 4096
MAX_LINE: Final = 16 * 1024
MAX_WORD: Final = 2048
FIRST: Final = "sha256:" + "0" * 64
"""What the first entry has in place of the hash of the one before."""

Digest = Annotated[str, Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]
Hidden = Annotated[str, Meta(pattern=r"\Ahmac:[0-9a-f]{64}\Z")]
Time = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z")]
Count = Annotated[int, Meta(ge=0)]
Target = Annotated[str, Meta(max_length=MAX_WORD)]
Word = Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How a segment was written: what a crash may have cost follows from it."""

    flush_seconds: float
    checkpoint_entries: Count
    checkpoint_seconds: float
    fsync: bool


class Opened(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """The first line of a segment."""

    event: Literal["opened"]
    prev: Digest
    seq: Count
    settings: Settings
    target: Word
    """The name of the segment."""
    time: Time
    key_id: Digest | None = None
    """Of the key that signs its checkpoints; none where nobody does."""


class Closed(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line of a segment whose process ended in order."""

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
    """Something that was done."""

    effects_hash: Digest
    event: Word
    payload_hash: Digest
    prev: Digest
    principal: Hidden | None = None
    retention_tier: Word
    seq: Count
    session: Hidden | None = None
    target: Target
    time: Time


class Checkpoint(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What is signed: the first `size` lines have this Merkle root, and the last of them this hash."""

    head: Digest
    root_hash: Digest
    size: Annotated[int, Meta(ge=1)]


Line = Opened | Entry | Closed
_KINDS: Final[dict[str, type[Line]]] = {"opened": Opened, "closed": Closed}
RESERVED: Final = frozenset(_KINDS)
"""Events that the ledger itself writes."""

_encode: Final = msgspec.json.Encoder().encode
_DIGEST: Final = len(FIRST)
_BEFORE_EVENT: Final = len('{"effectsHash":"') + _DIGEST + len('",')


def sealed(line: Line) -> tuple[bytes, str]:
    """The line with its hash in it, which is over all else in it; and the hash alone.

    The hash has its place among sorted keys: right before `event`.
    """
    if type(line) is Entry:
        body, place = _encode(line), _BEFORE_EVENT
    else:
        body, place = canonical.encode(msgspec.to_builtins(line)), 1
    found = digest(body)
    return b'%b"entryHash":"%b",%b\n' % (body[:place], found.encode(), body[place:]), found


def opened(line: bytes) -> tuple[Line, str]:
    """What a line says, and its hash, which is right.

    Raises:
        ValueError: no line of a ledger, or another one than was hashed.
    """
    value = canonical.decode(line, MAX_LINE)
    claimed = value.pop("entryHash", None) if isinstance(value, dict) else None
    if claimed is None:
        raise ValueError("no entry of a ledger")
    if claimed != digest(canonical.encode(value)):
        raise WrongHash("its content is not what its hash is over")
    return _convert(value), claimed


class WrongHash(ValueError):
    """A line was changed after it was hashed."""


def _convert(value: dict[str, Any]) -> Line:
    event = value.get("event")
    kind = _KINDS.get(event, Entry) if isinstance(event, str) else Entry
    return msgspec.convert(value, kind)


def segments(directory: Path) -> list[Path]:
    """The entries of every segment, the oldest first.

    Raises:
        OSError: it cannot be read.
    """
    found = (path for path in directory.iterdir() if path.name.endswith(ENTRIES))
    return sorted(path for path in found if not path.name.endswith(CHECKPOINTS))
