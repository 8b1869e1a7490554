"""Judge public MCP servers or clients, store the traces with findings and write a page in docs/evidence.

Exit codes: 0 every finding has a reason, 1 one has none, a reason is out of date, or two runs differ,
2 usage, 3 could not run, 4 a subject did not start, 130 interrupted.
"""

import argparse
import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.run import Run
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.official import Aborted, Exit
from interop.public.collection import CLIENTS, SERVERS, Collection
from interop.public.run import PRIVATE, RunOptions, changes, judged
from interop.public.table import ROOT, PublicPackage


def report(collection: Collection) -> Exit:
    """Print findings without a reason."""
    breaches = collection.breaches()
    print("\n".join((f"written: {collection.page.relative_to(ROOT)}", *breaches)))
    return Exit.DOES_NOT_CONFORM if breaches else Exit.CONFORMS


def install(packages: Sequence[PublicPackage]) -> None:
    """Install missing packages through the Makefile, like all environments.

    Raises:
        Aborted: the installation failed.
    """
    stamps = [str(package.home / ".ready") for package in packages]
    done = subprocess.run(["make", "--silent", "--no-print-directory", *stamps], check=False)
    if done.returncode:
        raise Aborted(Exit.COULD_NOT_RUN, "the packages could not be installed")


async def judge(package: PublicPackage, options: RunOptions) -> tuple[Run, Path]:
    print(f"{package.name} {package.version()} on {package.transport} …", flush=True)
    run, home = await judged(package, options)
    print(f"  {headline(run)} in {run.seconds:.0f} s", flush=True)
    return run, home


async def judge_all(
    collection: Collection, packages: Sequence[PublicPackage], options: RunOptions, repeat: int
) -> Exit:
    """Judge each package, store the first run, and compare the others with it."""
    stop_on_request()
    different = 0
    for package in packages:
        run, home = await judge(package, options)
        result = collection.store(package, run, home, PRIVATE)
        collection.keep([result])
        runs = [run, *[(await judge(package, options))[0] for _ in range(repeat - 1)]]
        lines = list(differences(runs))
        collection.keep([msgspec.structs.replace(result, runs=repeat, differing=len(lines))])
        different += bool(lines)
        if repeat > 1:
            print("\n".join(lines) or f"  {repeat} runs: the same {len(run.cells)} outcomes", flush=True)
    return Exit.DOES_NOT_CONFORM if different else report(collection)


def differences(runs: Sequence[Run]) -> Iterator[str]:
    for change in changes(runs):
        checks = ", ".join(f"{each.check} {each.before} → {each.after}" for each in change.checks)
        yield f"  {change.scenario} at {change.revision}: {change.before} → {change.after} {checks}".rstrip()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.public", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("names", metavar="NAME", nargs="*", help="which servers or clients; default: all of the table")
    add("--clients", action="store_true", help="clients instead of servers")
    add("--node", default=".venv-node/bin/node", help="the Node executable")
    add("--results", type=Path, default=ROOT / "results" / "public", help="where runs are stored")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="parallel scenarios")
    add("--timeout", type=float, default=10, help="seconds to wait for an answer of a server")
    add("--runs", type=int, default=1, metavar="N", help="judge each N times, and fail if a verdict differs")
    add("--offline", action="store_true", help="judge the stored traces again and rewrite the page")
    options = parser.parse_args()
    options.collection = CLIENTS if options.clients else SERVERS
    check_names(
        parser, options.names, list(options.collection.packages()), "client" if options.clients else "server"
    )
    return options


def execute(options: argparse.Namespace) -> Exit:
    collection: Collection = options.collection
    if options.offline:
        collection.refresh()
        return report(collection)
    packages = [
        package
        for name, package in collection.packages().items()
        if name in options.names or not options.names
    ]
    install(packages)
    run_options = RunOptions(options.node, options.results, options.jobs, options.timeout)
    return asyncio.run(judge_all(collection, packages, run_options, options.runs))


def main() -> int:
    options = parse()
    os.chdir(ROOT)
    return exit_code(lambda: execute(options))


if __name__ == "__main__":
    sys.exit(main())
