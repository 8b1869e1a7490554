"""Verify a bundle of evidence offline: its signature, its files, and that no statement contradicts another.

examples:
  assay verify evidence/ --trust dev.pub
  assay verify evidence/ --trust dev.pub --max-age 90d --artifact dist/my_server-0.1.0-py3-none-any.whl
  assay verify evidence/ --trust dev.pub --rejudge
  assay verify evidence/ --trust dev.pub --against https://example.org/mcp --bearer TOKEN

You bring the keys that you trust; those in the bundle are not used. With --rejudge, the current checks judge
every stored trace again and must reach the verdicts of the bundle. Nothing is downloaded. With --against, a
live server is asked what it lists: definitions that changed since the bundle was made are refused.

exit codes:
  0 verified, 1 refused, 2 wrong usage, 3 the bundle cannot be read
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from assay.cli.options.access import access_from, add_access, add_headers
from assay.cli.options.value import duration, seconds
from assay.cli.output.stream import emit

from .exit_code import ExitCode
from .parser import Parser

SUMMARY = "verify a bundle of evidence, offline"
GROUP = "certify"
USAGE = "DIR --trust FILE [options]"


def configure(parser: Parser) -> None:
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR", help="the bundle: the directory of MANIFEST.json")
    trust = "public key of a developer whose bundles are accepted; repeatable"
    add("--trust", type=Path, metavar="FILE", action="append", required=True, help=trust)
    harness = "public key of a harness whose measurements are accepted; repeatable"
    add("--trust-harness", type=Path, metavar="FILE", action="append", default=[], help=harness)
    add("--max-age", type=duration, metavar="TIME", help="refuse older evidence, as 90d or 12h")
    add("--artifact", type=Path, metavar="FILE", help="the evidence must be about this file")
    add("--rejudge", action="store_true", help="judge every stored trace again")
    against = "a live server (URL, file or command): refuse definitions that changed since"
    add("--against", metavar="TARGET", help=against)
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add("--format", choices=("text", "json"), default="text", metavar="F", help="text or json; default: text")
    live = parser.add_argument_group("the server of --against")
    add_headers(live)
    add_access(live)


def execute(options: argparse.Namespace) -> int:
    from assay.certify.extra import require_certify, require_verify

    (require_certify if options.rejudge or options.against else require_verify)()
    from assay.certify import VerifyOptions, verify
    from assay.cli.output.verification import as_json, as_text

    values = VerifyOptions(
        trust=options.trust,
        trust_harness=options.trust_harness,
        max_age=options.max_age,
        artifact=options.artifact,
        rejudge=options.rejudge,
        against=options.against,
        timeout=options.timeout,
        access=access_from(options),
    )
    report = asyncio.run(verify(options.directory, values))
    emit(as_json(report) if options.format == "json" else as_text(report))
    return ExitCode.OK if report.ok else ExitCode.DOES_NOT_CONFORM
