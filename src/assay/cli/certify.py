"""Certify an MCP server: judge it by a marketplace's profile, and write signed evidence and a badge.

  assay certify --stdio "python my_server.py" --server NAME --server-version V --out evidence/ --key dev.key
  assay certify -e http://localhost:3000/mcp -t TOKEN --server NAME --server-version V --badge-out badge.json
  assay certify --stdio LINE -e URL                both transports in one bundle
  assay certify my_server.py                       a file is served on stdio and on HTTP
  assay certify 'reference --profile intelgraph'   the same with options of `assay serve`

The summary goes to standard output as JSON; progress, and what people read of it, to standard error. With
--out, a bundle is written that `assay verify` checks without a network. What cannot be measured is *not
measured*, which is neither passed nor failed, and its reason names the option that would measure it.

Exit codes: 0 every scored demand that was measured is met, and the core ones were measured; 1 a scored demand
is not met; 2 usage; 3 too little was measured; 4 the server is not there or did not start; 70 a fault of
Assay; 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
from datetime import timedelta
from pathlib import Path

from .duration import duration
from .once import Once
from .server import add_beside, add_tokens, count, seconds

SUMMARY = "judge a server by a marketplace's profile; signed evidence and badge"
LIFETIME = timedelta(days=90)


def configure(parser: argparse.ArgumentParser) -> None:
    _add_subject(parser)
    add_tokens(parser.add_argument_group("a protected server"), "-t", "--token")
    _add_profile(parser.add_argument_group("what is judged"))
    _add_evidence(parser.add_argument_group("evidence beside the messages"))
    _add_output(parser.add_argument_group("what is written"))


def _add_subject(parser: argparse.ArgumentParser) -> None:
    target = "what `assay serve` takes, with its options: served on stdio and HTTP"
    parser.add_argument("target", metavar="TARGET", nargs="?", help=target)
    add = parser.add_argument_group("the server").add_argument
    add("-e", "--endpoint", action=Once, dest="url", metavar="URL", help="where it is served: http(s)://")
    add("--stdio", action=Once, dest="command", metavar="LINE", help="a command that serves on stdio")
    add("--header", action="append", default=[], metavar="'N: V'", help="sent with every request; repeatable")
    add("--server", metavar="NAME", help="its name, as in the registry; default: what it calls itself")
    add("--server-version", metavar="V", help="its version; default: what it says")
    add("--artifact", type=Path, metavar="FILE", help="what users install: bound to the evidence by digest")


def _add_profile(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--profile", default="intelgraph/2025-10", metavar="NAME", help="default: intelgraph/2025-10")
    chosen = "only these, e.g. 'jrpc.*'; the rest is not measured; repeatable"
    add("--scenario", action="append", default=[], metavar="GLOB", help=chosen)
    add("--spec-version", action="append", default=[], metavar="DATE", help="this revision only; repeatable")
    add("--allow-effects", action="store_true", help="also call tools that may change something")
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add("--jobs", type=count, metavar="N", help="scenarios at once; default: the cores")


def _add_evidence(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add_beside(group, "; a command is told where by itself")
    add("--python", type=Path, metavar="EXE", help="its interpreter, for the SBOM; default: that of --stdio")
    add(
        "--osv", type=Path, metavar="FILE", help="export of known vulnerabilities: a JSON file, folder or zip"
    )
    waived = "a vulnerability of unknown severity that does no harm; repeatable"
    add("--waive", action="append", default=[], metavar="ID", help=waived)
    add(
        "--metrics", type=Path, metavar="FILE", help="measurements of yours: results.json, as it is or signed"
    )
    trusted = "public key of the harness that signed --metrics"
    add("--trust-harness", type=Path, metavar="FILE", help=trusted)


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--out", type=Path, metavar="DIR", help="the bundle of evidence")
    add("--force", action="store_true", help="replace an older bundle there")
    add("--key", type=Path, metavar="FILE", help="sign the bundle with it; `assay keygen` makes one")
    add("--harness-key", type=Path, metavar="FILE", help="sign --metrics with it, as a harness")
    lifetime = "how long the evidence holds; default: 90d"
    add("--lifetime", type=duration, default=LIFETIME, metavar="TIME", help=lifetime)
    add("--badge-out", type=Path, metavar="FILE", help="the badge, as JSON")
    add("--quiet", action="store_true", help="nothing on standard error")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_certify

    check_certify()
    from assay.cli.lab.certifying import certify

    return asyncio.run(certify(options))
