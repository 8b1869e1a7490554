"""Verify a server's ledger, or show its entries.

examples:
  assay ledger verify ledger/ --trust dev.pub    every segment in a directory, or one by its file
  assay ledger show ledger/SEGMENT.jsonl         a line for each entry

A segment is verified if every line matches its hash and follows the line before, and a key that you trust has
signed them all up to the end that its process wrote. A segment that is still being written, or whose process
was killed, is incomplete: its last lines may be missing, or not signed yet.

exit codes:
  0 verified, 1 something was changed, 2 wrong usage, 3 incomplete or not signed
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.output.stream import emit_lines
from assay.model.error import MissingExtra

from .exit_code import CommandFailed, ExitCode
from .parser import Action, Parser

if TYPE_CHECKING:
    from assay.profile.ledger_entry import Line
    from assay.profile.ledger_reader import VerifiedLine, VerifiedSegment
    from assay.signing.dsse import Trust

SUMMARY = "verify a server's ledger, or show its entries"
GROUP = "certify"
HASH_LETTERS: Final = 16
"""Characters of a hash that are printed."""
AT_ONCE: Final = 1000
"""Lines written together."""


def _add_path(parser: Parser) -> None:
    path = "directory of segments, or one SEGMENT.jsonl"
    parser.add_argument("path", type=Path, metavar="PATH", help=path)


def _add_verify(parser: Parser) -> None:
    _add_path(parser)
    trust = "public key of a signer that you trust; repeatable"
    parser.add_argument("--trust", type=Path, action="append", default=[], metavar="KEY.pub", help=trust)


def verify_ledger(options: argparse.Namespace) -> int:
    _require()
    from assay.profile.ledger_reader import InvalidSegment, verify_segment

    trust = pinned(options.trust)
    codes = []
    for path in segments_at(options.path):
        try:
            verified = verify_segment(path, trust)
        except InvalidSegment as error:
            emit_lines([f"FAILURE {path.name}: {error.reason}: {error}"])
            codes.append(ExitCode.DOES_NOT_CONFORM)
        except OSError as error:
            raise unreadable(path, error) from error
        else:
            emit_lines([segment_line(verified, trust)])
            codes.append(ExitCode.OK if verified.is_complete else ExitCode.INCOMPLETE)
    return ExitCode.DOES_NOT_CONFORM if ExitCode.DOES_NOT_CONFORM in codes else max(codes)


def _require() -> None:
    if find_spec("cryptography") is None:
        raise MissingExtra(
            'a ledger needs cryptography, which is not installed: pip install "assay-mcp[certify]"'
        )


def pinned(files: list[Path]) -> Trust:
    from assay.signing.dsse import Role, Trust
    from assay.signing.keys import BadKey, read_public_key

    try:
        return Trust([(read_public_key(file), Role.DEVELOPER) for file in files])
    except BadKey as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def segments_at(path: Path) -> list[Path]:
    from assay.profile.ledger_entry import CHECKPOINTS, ENTRIES, MAX_SEGMENTS, segments

    try:
        files = segments(path) if path.is_dir() else [path]
    except OSError as error:
        raise unreadable(path, error) from error
    if not files:
        raise CommandFailed(ExitCode.USAGE, f"no segment in {path}", f"segments end in {ENTRIES}")
    if len(files) > MAX_SEGMENTS:
        problem = f"more than {MAX_SEGMENTS} segments in {path}"
        raise CommandFailed(ExitCode.USAGE, problem, "give them one by one")
    if path.name.endswith(CHECKPOINTS) or not files[0].name.endswith(ENTRIES):
        problem = f"{path} is not a segment of a ledger"
        raise CommandFailed(ExitCode.USAGE, problem, f"give the file SEGMENT{ENTRIES}, or its directory")
    return files


def unreadable(path: Path, error: OSError) -> CommandFailed:
    return CommandFailed(ExitCode.USAGE, f"cannot read {path}: {error.strerror}", "give a ledger's directory")


def segment_line(verified: VerifiedSegment, trust: Trust) -> str:
    if verified.is_complete:
        return f"verified {verified.name}: {verified.lines} lines, signed by {verified.key_id}"
    gaps = "; ".join(gaps_of(verified, trust))
    return f"incomplete {verified.name}: {verified.lines} lines, {gaps}"


def gaps_of(verified: VerifiedSegment, trust: Trust) -> Iterator[str]:
    """Why a segment proves less than it could."""
    if not trust.keys:
        yield "signatures not checked (no --trust)"
    elif verified.signed == 0:
        yield "none of them signed: the chain is complete, but anyone could have written it"
    elif verified.signed < verified.lines:
        yield f"the last {verified.lines - verified.signed} not signed"
    if verified.torn:
        yield f"{verified.torn} bytes of a line that was not written completely"
    if not verified.closed:
        yield "not closed: its process is running or was killed, and later lines may be missing"


def show_ledger(options: argparse.Namespace) -> int:
    _require()
    from assay.profile.ledger_reader import InvalidSegment, SegmentReader

    code = ExitCode.OK
    for path in segments_at(options.path):
        try:
            lines = map(entry_line, SegmentReader(path))
            while some := list(islice(lines, AT_ONCE)):
                emit_lines(some)
        except InvalidSegment as error:
            emit_lines([f"FAILURE {path.name}: {error.reason}: {error}"])
            code = ExitCode.DOES_NOT_CONFORM
        except OSError as error:
            raise unreadable(path, error) from error
    return code


def entry_line(entry: VerifiedLine) -> str:
    line = entry.line
    parts = [f"{line.seq:>6}", line.time, f"{line.event:<16}", line.target, *details(line)]
    return "  ".join([*parts, entry.hash[: len("sha256:") + HASH_LETTERS]])


def details(line: Line) -> Iterator[str]:
    from assay.profile.ledger_entry import Entry, SegmentOpened

    if isinstance(line, SegmentOpened):
        yield f"key {(line.key_id or 'none')[: len('sha256:') + HASH_LETTERS]}"
        yield f"may lose {line.settings.flush_seconds:g} s"
    if isinstance(line, Entry):
        yield line.retention_tier
        for name, value in (("principal", line.principal), ("session", line.session)):
            if value is not None:
                yield f"{name} {value[: len('hmac:') + HASH_LETTERS]}"


ACTIONS: Final = {
    "verify": Action(
        "PATH [--trust KEY.pub]", "check hashes and signatures of segments", _add_verify, verify_ledger
    ),
    "show": Action("PATH", "print a line for each entry", _add_path, show_ledger),
}
