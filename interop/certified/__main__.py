"""Certify the reference server on stdio and on protected HTTP, then verify both bundles without a network.

HTTP requires a client certificate and a token from `assay authority`. Every scored demand of the profile must
be met; demands that stay unmeasured are listed, and only those that cannot be measured there are accepted.
One transport after the other, so that benchmarks have the machine to themselves. With --quick both are
certified at once, and benchmarks that miss a limit are shown and do not fail: a busy machine must not fail a
build.
--public certifies public servers instead and writes docs/evidence/certified.md.

Exit codes: 0 all of this holds, 1 it does not, 2 usage, 3 could not run, 4 a server did not start,
130 interrupted.
"""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from assay.certify.scoring import Measure
from interop.certified.proof import HTTP, STDIO, Proof, prove
from interop.certified.public import certify_public, refresh
from interop.certified.workspace import Workspace
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.official import Exit

ROOT = Path(__file__).parents[2]


def report_lines(proof: Proof) -> Iterator[str]:
    document, counts = proof.summary, proof.summary.summary
    yield f"{document.server.name} {document.server.version} on {proof.transport}: {document.conclusion}"
    yield (
        f"  {counts.passed} of {counts.scored} scored demands met, {counts.warned} warned,"
        f" at {', '.join(document.server.protocol_versions)}, in {proof.seconds:.0f} s"
    )
    yield from (f"  {line}" for line in proof.verified)
    reasons: dict[str, list[str]] = {}
    for score in document.checks:
        if score.measure is not Measure.MEASURED:
            reasons.setdefault(f"{score.measure}, {score.reason}", []).append(score.id)
    yield from (f"  {reason}: {', '.join(ids)}" for reason, ids in reasons.items())
    yield from (f"  ✗ {breach}" for breach in proof.breaches)


def workspace(options: argparse.Namespace, name: str) -> Workspace:
    return Workspace(options.results / name, options.quick, options.osv)


async def prove_all(options: argparse.Namespace) -> list[Proof]:
    names = options.transports or (STDIO, HTTP)
    if not options.quick:
        return [await prove(workspace(options, name), name) for name in names]
    return await asyncio.gather(*(prove(workspace(options, name), name) for name in names))


async def run_all(options: argparse.Namespace) -> Exit:
    stop_on_request()
    if options.public:
        shutil.rmtree(options.results / "public", ignore_errors=True)
        return await certify_public(options.results / "public", options.node)
    shutil.rmtree(options.results, ignore_errors=True)
    proofs = await prove_all(options)
    print("\n".join(line for proof in proofs for line in report_lines(proof)), flush=True)
    holds = all(proof.holds or (options.quick and proof.is_only_slow) for proof in proofs)
    return Exit.CONFORMS if holds else Exit.DOES_NOT_CONFORM


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.certified", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("transports", metavar="TRANSPORT", nargs="*", help="stdio or http; default: both")
    add("--quick", action="store_true", help="only the newest revision of each kind")
    add(
        "--osv", type=Path, metavar="FILE", help="export of known vulnerabilities; default: one sample record"
    )
    add("--public", action="store_true", help="certify public servers and write docs/evidence/certified.md")
    add(
        "--offline",
        action="store_true",
        help="judge the stored traces again and rewrite docs/evidence/certified.md",
    )
    add("--node", default=".venv-node/bin/node", help="the Node executable")
    add("--results", type=Path, default=ROOT / "results" / "certified", help="emptied, then written")
    options = parser.parse_args()
    check_names(parser, options.transports, (STDIO, HTTP), "transport")
    return options


def main() -> int:
    options = parse()
    options.results = options.results.resolve()
    os.chdir(ROOT)
    return exit_code(refresh if options.offline else lambda: asyncio.run(run_all(options)))


if __name__ == "__main__":
    sys.exit(main())
