"""Certify an MCP server: judge it by a marketplace's profile, and write signed evidence and a badge.

examples:
  assay certify my_server.py                         a Python server, on stdio and on HTTP
  assay certify -e http://localhost:3000/mcp -t TOKEN --out evidence/ --key dev.key
  assay certify --stdio "python my_server.py" -e http://localhost:3000/mcp    both transports in one bundle
  assay certify 'reference --profile intelgraph'     with options of `assay serve`
  assay certify --out evidence/ -- npx some-server --flag

Progress and a short summary go to standard error; the summary as JSON goes to standard output, unless that is
a terminal. With --out, a bundle is written that `assay verify` checks offline. A demand that cannot be
measured is *not measured*: neither passed nor failed, and its reason names the option that would measure it.

exit codes:
  0 the profile is met; 1 a scored demand is not met; 2 wrong usage; 3 incomplete: a category or a core demand
  was not measured; 4 the server is not there or did not start; 70 a fault of Assay; 130 interrupted
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Final

from assay.cli.options.access import access_from, add_access
from assay.cli.options.evidence import add_evidence, evidence_from
from assay.cli.options.sandbox import add_sandbox
from assay.cli.options.subject import add_endpoints, targets_from
from assay.cli.options.value import count, duration, seconds
from assay.cli.output.stream import say_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "judge a server by a marketplace's profile; signed evidence and badge"
GROUP = "certify"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"
KEY: Final = Path("dev.key")
PLAIN: Final = (
    *("profile", "scope", "server", "server_version", "allow_effects", "timeout", "deadline", "jobs"),
    *(
        "artifact",
        "python",
        "npm",
        "sbom",
        "attestation",
        "osv",
        "metrics",
        "platform",
        "trust_harness",
        "harness_key",
    ),
    *("sandbox", "sandbox_memory", "bench", "replay", "out", "force", "key", "lifetime"),
)
"""Options that go to the library as they are."""


def configure(parser: Parser) -> None:
    add = add_endpoints(parser).add_argument
    add("--server", metavar="NAME", help="its name, as in the registry; default: the name that it reports")
    add("--server-version", metavar="V", help="its version; default: the version that it reports")
    add(
        "--artifact", type=Path, metavar="FILE", help="file that users install; its digest is in the evidence"
    )
    add_access(parser.add_argument_group("protected servers"), "-t", "--token")
    _add_selection(parser.add_argument_group("selection"))
    _add_evidence(parser.add_argument_group("evidence beside the messages"))
    add_sandbox(parser.add_argument_group("sandbox, for --stdio"))
    _add_output(parser.add_argument_group("results"))


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--profile", metavar="NAME", help="default: intelgraph, which is its newest edition")
    scope = "the only transport of the server: stdio or http; the badge names it"
    add("--scope", choices=("stdio", "http"), help=scope)
    scenario = "such as 'jrpc.*'; the rest is not measured; repeatable"
    add("--scenario", action="append", default=[], metavar="GLOB", help=scenario)
    add("--spec-version", action="append", default=[], metavar="DATE", help="only this revision; repeatable")
    add("--allow-effects", action="store_true", help="also call tools that may change the server's data")
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add("--deadline", type=seconds, metavar="S", help="seconds for all judging together; default: 3600")
    add("--jobs", type=count, metavar="N", help="scenarios that run at once; default: the number of cores")


def _add_evidence(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add_evidence(group, "receive its spans at this address; a command gets it in its environment")
    add(
        "--python",
        type=Path,
        metavar="EXE",
        help="its interpreter, for the SBOM; default: that of the command",
    )
    add("--npm", type=Path, metavar="DIR", help="its package-lock.json and node_modules, for the SBOM")
    bill = "an SBOM of yours (CycloneDX or SPDX), compared with what is installed"
    add("--sbom", type=Path, metavar="FILE", help=bill)
    attestation = "provenance of the build (in-toto, SLSA); its subject must be --artifact"
    add("--attestation", type=Path, metavar="FILE", help=attestation)
    add("--osv", type=Path, metavar="FILE", help="known vulnerabilities (OSV): a JSON file, directory or zip")
    waive = "vulnerability of unknown severity that does no harm; repeatable"
    add("--waive", action="append", default=[], metavar="ID", help=waive)
    add("--bench", nargs="?", const="full", choices=("quick", "full"), help="measure latencies, under load")
    add("--replay", action="store_true", help="record what it says, replay it, and compare")
    add("--full", action="store_true", help="--sandbox --bench --replay --allow-effects")
    add("--metrics", type=Path, metavar="FILE", help="your measurements: results.json, signed or not")
    platform = "the run there that counts, if the server has runs on several platforms"
    add("--platform", metavar="NAME", help=platform)
    add("--trust-harness", type=Path, metavar="FILE", help="public key of the harness that signed --metrics")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--out", type=Path, metavar="DIR", help="write the bundle to this directory")
    add("--force", action="store_true", help="replace an older bundle there")
    add("--key", type=Path, metavar="FILE", help="sign the bundle with this key; `assay keygen` makes one")
    add("--harness-key", type=Path, metavar="FILE", help="sign --metrics with this key, as a harness")
    add(
        "--lifetime",
        type=duration,
        metavar="TIME",
        help="how long the evidence is valid, at most 366d; default: 90d",
    )
    add("--badge-out", type=Path, metavar="FILE", help="write the badge as JSON")
    add("--json", action="store_true", help="print the summary as JSON also on a terminal")
    add("--quiet", action="store_true", help="nothing on standard error")


def execute(options: argparse.Namespace) -> int:
    from assay.certify.extra import require_certify

    require_certify()
    from assay.certify import CertifyOptions, follow_certification
    from assay.cli.output.certification import show_certification

    check_badge(options.badge_out)
    offer_key(options)
    _apply_full(options)
    values = CertifyOptions(
        access=access_from(options),
        evidence=evidence_from(options),
        scenario=tuple(options.scenario),
        spec_version=tuple(options.spec_version),
        waive=tuple(options.waive),
        sandbox_read=tuple(options.sandbox_read),
        sandbox_env=tuple(options.sandbox_env),
        **{name: value for name in PLAIN if (value := getattr(options, name)) is not None},
    )
    live = follow_certification(targets_from(options), values)
    as_json = options.json or not sys.stdout.isatty()
    printing = show_certification(live, options.badge_out, quiet=options.quiet, as_json=as_json)
    return asyncio.run(printing)


def _apply_full(options: argparse.Namespace) -> None:
    if options.full:
        options.sandbox, options.bench = options.sandbox or "auto", options.bench or "full"
        options.replay = options.allow_effects = True


def check_badge(path: Path | None) -> None:
    """Whether it can be written, before minutes of judging. Its directory is made then."""
    if path is None:
        return
    nearest = next(parent for parent in path.absolute().parents if parent.exists())
    if path.is_dir() or not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise CommandFailed(ExitCode.USAGE, f"cannot write {path}", "name a file in a directory of yours")


def offer_key(options: argparse.Namespace) -> None:
    """Ask a person at a terminal whether to make a key, if a bundle would be written without a signature."""
    if options.key is not None or options.out is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    if KEY.exists():
        question = f"no --key is given, but there is {KEY}: sign with it? [Y/n]"
    else:
        question = "no --key is given, so no verifier would accept the bundle: run `assay keygen dev`? [Y/n]"
    say_lines([question])
    if sys.stdin.readline().strip().lower() not in ("", "y", "yes"):
        return
    if not KEY.exists():
        from assay.signing.keys import generate, write_pair

        write_pair(generate(), str(KEY.with_suffix("")))
        say_lines([f"{KEY}: keep it secret; {KEY.with_suffix('.pub')}: for everyone who verifies"])
    options.key = KEY
