"""Ledger segments to verify and to tamper with."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from shutil import copy
from typing import Any

from assay.profile.ledger import Ledger
from assay.profile.ledger_entry import CHECKPOINTS, ENTRIES
from assay.profile.port import Record
from assay.signing import canonical
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey, generate

KEY = generate()
OTHER = generate()
TRUST = Trust([(KEY.public, Role.DEVELOPER)])


def record(target: str = "write_note", **members: Any) -> Record:
    def digest(text: str) -> str:
        return f"sha256:{sha256(text.encode()).hexdigest()}"

    usual = {"retention_tier": "short-30d", "session": "s-1", "principal": "ada@example.com"}
    return Record("tool_invocation", target, digest(target), digest("[]"), **{**usual, **members})


def written(directory: Path, key: SigningKey | None = KEY, *, killed: bool = False) -> Path:
    """Seven lines (without the last if the process was killed), signed at 1, 3, 5 and the end."""
    ledger = Ledger(directory / "at-work" if killed else directory, key, checkpoint=2)
    for number in range(5):
        ledger.append(record(f"tool-{number}"))
        ledger.sync()
    if not killed:
        ledger.close()
        return ledger.path
    left_behind = [copy(file, directory) for file in ledger.directory.iterdir()]
    ledger.close()
    return next(file for file in map(Path, left_behind) if file.name == ledger.path.name)


def checkpoints_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(ENTRIES) + CHECKPOINTS)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def put_lines(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def rehashed(line: bytes, **members: Any) -> bytes:
    """The line with other members and a matching hash, which needs no key."""
    value = {**json.loads(line), **members}
    value = {name: member for name, member in value.items() if member is not None}
    value.pop("entryHash", None)
    return canonical.encode({**value, "entryHash": f"sha256:{sha256(canonical.encode(value)).hexdigest()}"})


def chained(lines: list[bytes]) -> list[bytes]:
    """Renumber and rehash all lines: a valid chain."""
    chain: list[bytes] = []
    for number, line in enumerate(lines):
        prev = json.loads(chain[-1])["entryHash"] if chain else "sha256:" + "0" * 64
        chain.append(rehashed(line, seq=number, prev=prev))
    return chain
