"""Check a server's ledger, or read it.

  assay ledger verify ledger/ --trust dev.pub    every segment in a directory, or one by its file
  assay ledger show ledger/SEGMENT.jsonl         a line for each entry

A segment is verified if each line is what was hashed and follows the one before, and a key that you trust has
signed them all, to the end that its process has written. A segment that is still being written, or whose
process was killed, is incomplete: its last lines may be missing, or not signed yet.

Exit codes: 0 verified, 1 something was changed, 2 usage, 3 incomplete or not signed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode
from .output import emit

if TYPE_CHECKING:
    from assay.profile.ledger_entry import Line
    from assay.profile.ledger_reader import VerifiedLine, VerifiedSegment
    from assay.signing.dsse import Trust

SUMMARY = "check a server's ledger, or read it"
SHOWN = 16
"""Characters of a hash that are shown."""
AT_ONCE = 1000
"""Lines written together."""


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="verify|show", required=True)
    verify = _add(actions, "verify", verify_ledger)
    verify.add_argument(
        "--trust",
        type=Path,
        action="append",
        default=[],
        metavar="KEY.pub",
        help="who may have signed; repeatable",
    )
    _add(actions, "show", show_ledger)


def _add(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    work: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, allow_abbrev=False)
    parser.add_argument(
        "path", type=Path, metavar="PATH", help="a directory of segments, or one SEGMENT.jsonl"
    )
    parser.set_defaults(work=work)
    return parser


def execute(options: argparse.Namespace) -> int:
    if find_spec("cryptography") is None:
        problem = "a ledger needs cryptography, which is not installed"
        raise CommandFailed(ExitCode.USAGE, problem, 'pip install "assay-mcp[certify]"')
    code: int = options.work(options)
    return code


def verify_ledger(options: argparse.Namespace) -> int:
    from assay.profile.ledger_reader import InvalidSegment, verify_segment

    trust = pinned(options.trust)
    codes = []
    for path in segments_at(options.path):
        try:
            found = verify_segment(path, trust)
        except InvalidSegment as error:
            emit(printable(f"FAILURE {path.name}: {error.reason}: {error}") + "\n")
            codes.append(ExitCode.DOES_NOT_CONFORM)
        except OSError as error:
            raise unreadable(path, error) from error
        else:
            emit(told(found, trust))
            codes.append(ExitCode.OK if found.is_complete else ExitCode.INCOMPLETE)
    return ExitCode.DOES_NOT_CONFORM if ExitCode.DOES_NOT_CONFORM in codes else max(codes)


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
        found = segments(path) if path.is_dir() else [path]
    except OSError as error:
        raise unreadable(path, error) from error
    if not found:
        raise CommandFailed(ExitCode.USAGE, f"no segment in {path}", f"segments end in {ENTRIES}")
    if len(found) > MAX_SEGMENTS:
        raise CommandFailed(
            ExitCode.USAGE, f"more than {MAX_SEGMENTS} segments in {path}", "give them singly"
        )
    if path.name.endswith(CHECKPOINTS) or not found[0].name.endswith(ENTRIES):
        problem = f"{path} is no segment of a ledger"
        raise CommandFailed(ExitCode.USAGE, problem, f"give the file SEGMENT{ENTRIES}, or its directory")
    return found


def unreadable(path: Path, error: OSError) -> CommandFailed:
    return CommandFailed(ExitCode.USAGE, f"cannot read {path}: {error.strerror}", "give a ledger's directory")


def told(found: VerifiedSegment, trust: Trust) -> str:
    if found.is_complete:
        return f"verified {found.name}: {found.lines} lines, signed by {found.key_id}\n"
    return f"incomplete {found.name}: {found.lines} lines, {'; '.join(lacking(found, trust))}\n"


def lacking(found: VerifiedSegment, trust: Trust) -> Iterator[str]:
    """Why a segment proves less than it could."""
    if not trust.keys:
        yield "signatures not checked (no --trust)"
    elif found.signed == 0:
        yield "none of them signed: the chain is whole, but anybody could have made it"
    elif found.signed < found.lines:
        yield f"the last {found.lines - found.signed} not signed"
    if found.torn:
        yield f"{found.torn} bytes of one that was not written to its end"
    if not found.closed:
        yield "not closed: its process is at work or was killed, and later lines may be missing"


def show_ledger(options: argparse.Namespace) -> int:
    from assay.profile.ledger_reader import InvalidSegment, SegmentReader

    code = ExitCode.OK
    for path in segments_at(options.path):
        try:
            lines = map(shown, SegmentReader(path))
            while some := "".join(islice(lines, AT_ONCE)):
                emit(some)
        except InvalidSegment as error:
            emit(printable(f"FAILURE {path.name}: {error.reason}: {error}") + "\n")
            code = ExitCode.DOES_NOT_CONFORM
        except OSError as error:
            raise unreadable(path, error) from error
    return code


def shown(one: VerifiedLine) -> str:
    line = one.line
    parts = [f"{line.seq:>6}", line.time, f"{line.event:<16}", line.target, *about(line)]
    return printable("  ".join([*parts, one.hash[: len("sha256:") + SHOWN]])) + "\n"


def printable(text: str) -> str:
    """A name comes from a client: it must not move the cursor, nor begin a line of its own."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def about(line: Line) -> Iterator[str]:
    from assay.profile.ledger_entry import Entry, SegmentOpened

    if isinstance(line, SegmentOpened):
        yield f"key {(line.key_id or 'none')[: len('sha256:') + SHOWN]}"
        yield f"may lose {line.settings.flush_seconds:g} s"
    if isinstance(line, Entry):
        yield line.retention_tier
        for name, value in (("principal", line.principal), ("session", line.session)):
            if value is not None:
                yield f"{name} {value[: len('hmac:') + SHOWN]}"
