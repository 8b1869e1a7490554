"""Verify a bundle of evidence, offline: signature, files, statements, and that none contradicts another.

  assay verify evidence/ --trust dev.pub
  assay verify evidence/ --trust dev.pub --max-age 90d --artifact dist/my_server-0.1.0-py3-none-any.whl
  assay verify evidence/ --trust dev.pub --rejudge

Keys come from whoever trusts them, never from the bundle. With --rejudge, today's checks judge every stored
trace again, and must come to the verdicts of the bundle. Nothing is fetched from anywhere.

Exit codes: 0 verified, 1 refused, 2 usage (as no --trust), 3 the bundle cannot be read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .duration import duration
from .exit_code import CommandFailed, ExitCode
from .output import emit

if TYPE_CHECKING:
    from assay.certify.verification.procedure import Report
    from assay.signing.dsse import Trust

SUMMARY = "verify a bundle of evidence, offline"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="the bundle: the directory of MANIFEST.json"
    )
    parser.add_argument(
        "--trust", type=Path, metavar="FILE", action="append", required=True,
        help="public key of a developer whose bundles are believed (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--trust-harness", type=Path, metavar="FILE", action="append", default=[],
        help="public key of a harness whose measurements are believed (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--max-age", type=duration, metavar="TIME", help="refuse what is older, as 90d or 12h"
    )
    parser.add_argument("--artifact", type=Path, metavar="FILE", help="the evidence must be about this file")
    parser.add_argument("--rejudge", action="store_true", help="judge every stored trace again")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_certify, check_verify

    (check_certify if options.rejudge else check_verify)()
    report = _verified(options)
    emit(as_json(report) if options.format == "json" else as_text(report))
    return ExitCode.OK if report.ok else ExitCode.DOES_NOT_CONFORM


def _verified(options: argparse.Namespace) -> Report:
    from datetime import UTC, datetime

    from assay.certify.verification.procedure import CannotRead, verify

    trust = pinned(options.trust, options.trust_harness)
    try:
        return verify(
            options.directory,
            trust,
            now=datetime.now(UTC),
            max_age=options.max_age,
            artifact=options.artifact,
            rejudge=options.rejudge,
        )
    except CannotRead as error:
        raise CommandFailed(ExitCode.INCOMPLETE, str(error)) from error


def pinned(developers: list[Path], harnesses: list[Path]) -> Trust:
    """
    Raises:
        CommandFailed: one of the files is no public key.
    """
    from assay.signing.dsse import Role, Trust
    from assay.signing.keys import BadKey, read_public_key

    wanted = [(path, Role.DEVELOPER) for path in developers] + [(path, Role.HARNESS) for path in harnesses]
    try:
        return Trust([(read_public_key(path), role) for path, role in wanted])
    except BadKey as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def as_text(report: Report) -> str:
    lines = [f"{step.name:<14}{step.status:<12}{step.note}".rstrip() for step in report.steps]
    lines += [f"refused: {one.reason}: {one.where}: {one.detail}" for one in report.refusals]
    listed = report.manifest
    if report.ok and listed is not None:
        about = f"{listed.server.name} {listed.server.version}, {listed.profile.id}"
        voucher = "self-attested" if report.self_attested else "metrics of a trusted harness"
        outcome = next(step.note for step in report.steps if step.name == "summary")
        lines.append(f"verified: {about}: {outcome}; {voucher}")
    return "".join(f"{_plain(line)}\n" for line in lines)


def _plain(line: str) -> str:
    """What a bundle says is text: nothing in it moves the cursor or begins a line."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)


def as_json(report: Report) -> str:
    import json

    import msgspec

    told = {"verified": report.ok, **msgspec.to_builtins(report)}
    if report.manifest is not None:
        del told["manifest"]["files"]  # each is in the bundle, and their number in the steps
    return json.dumps(told, indent=2) + "\n"  # ASCII: nothing in it moves a cursor
