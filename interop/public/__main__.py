"""Judge public MCP servers, store the traces with findings and write docs/evidence/public-servers.md.

Exit codes: 0 every finding has a reason, 1 one has none, or a reason is out of date, 2 usage,
3 could not run, 4 a server did not start, 130 interrupted.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.lab.harness.run.archive import Archive, StorageError
from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import Run
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.suites import protocol_suite
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.official import Aborted, Exit
from interop.public.page import page
from interop.public.reason import read_reasons
from interop.public.record import (
    JudgedServer,
    Key,
    Record,
    ServerFinding,
    deduplicated,
    findings_in,
    outcomes,
    places_of,
    smallest_cover,
    trace_name,
)
from interop.public.table import HERE, ROOT, PublicServer, public_servers

TRACES = HERE / "traces"
RECORD = HERE / "record.json"
PAGE = ROOT / "docs" / "evidence" / "public-servers.md"


async def judge(server: PublicServer, options: argparse.Namespace) -> JudgedServer:
    """Judge one server and store the traces with findings."""
    results = options.results / server.name
    shutil.rmtree(results, ignore_errors=True)
    archive = Archive(results)
    print(f"{server.name} {server.version()} on {server.transport} …", flush=True)
    runner = Runner(order(server, options), [server.subject(options.node)], lambda event: None, archive.store)
    try:
        run = await runner.run()
        home = archive.finish(run).parent
    except SubjectDown as down:
        raise Aborted(Exit.SERVER_DID_NOT_START, str(down)) from down
    except StorageError as error:
        raise Aborted(Exit.COULD_NOT_RUN, str(error)) from error
    if run.interrupted:
        raise asyncio.CancelledError
    print(f"  {headline(run)} in {run.seconds:.0f} s", flush=True)
    return store_traces(server, run, home)


def order(server: PublicServer, options: argparse.Namespace) -> RunSettings:
    # Paths of this machine are redacted too. With the slash, because `/root` occurs in other words.
    private = Redaction([str(ROOT), f"{Path.home()}/", sys.base_prefix])
    conditions = Conditions(redaction=private, patience=options.timeout)
    return RunSettings(protocol_suite(), Selection(effects=server.effects), conditions, jobs=options.jobs)


def store_traces(server: PublicServer, run: Run, home: Path) -> JudgedServer:
    folder = TRACES / server.name
    shutil.rmtree(folder, ignore_errors=True)
    places = places_of(run)
    size = {cell.trace: (home / cell.trace).stat().st_size for cells in places.values() for cell in cells}
    for cell in smallest_cover(places, size):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(home / cell.trace, folder / trace_name(cell))
    revisions = {key: sorted({cell.revision for cell in cells}) for key, cells in places.items()}
    findings = findings_below(folder, revisions)
    for file in {*folder.glob("*.ndjson")} - {folder / finding.trace for finding in findings}:
        file.unlink()
    return JudgedServer(
        server=server.name,
        version=server.version(),
        transport=server.transport,
        speaks=[facts.revision for subject in run.subjects for facts in subject.facts],
        outcomes=outcomes(run),
        findings=findings,
    )


def findings_below(folder: Path, revisions: Mapping[Key, Sequence[str]]) -> list[ServerFinding]:
    files = sorted(folder.glob("*.ndjson"))
    return deduplicated(
        finding for file in files for finding in findings_in(protocol_suite(), file, file.name, revisions)
    )


def rejudge(known: JudgedServer) -> JudgedServer:
    """The same server, judged by its stored traces."""
    revisions = {finding.key: finding.revisions for finding in known.findings}
    return msgspec.structs.replace(known, findings=findings_below(TRACES / known.server, revisions))


def read_record() -> Record:
    return msgspec.json.decode(RECORD.read_bytes(), type=Record)


def keep(fresh: Sequence[JudgedServer]) -> None:
    """Merge new results into the record and write the page."""
    suite, servers = protocol_suite(), public_servers()
    known = {result.server: result for result in read_record().judged} if RECORD.exists() else {}
    known |= {result.server: result for result in fresh}
    judged = [known[name] for name in servers if name in known]
    write(Record(scenarios=len(suite.scenarios), checks=len(suite.checks), judged=judged))


def refresh() -> None:
    """Judge the stored traces again. The servers were not run, so the size of the suite stays as it was."""
    record = read_record()
    write(msgspec.structs.replace(record, judged=[rejudge(result) for result in record.judged]))


def write(record: Record) -> None:
    RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    PAGE.write_text(page(record, public_servers(), read_reasons()), "utf-8")


def report() -> Exit:
    """Print findings without a reason."""
    breaches = list(read_reasons().breaches(read_record().judged))
    print("\n".join((f"written: {PAGE.relative_to(ROOT)}", *breaches)))
    return Exit.DOES_NOT_CONFORM if breaches else Exit.CONFORMS


def install(servers: Sequence[PublicServer]) -> None:
    """Install missing servers through the Makefile, like all environments.

    Raises:
        Aborted: the installation failed.
    """
    stamps = [str(server.home / ".ready") for server in servers]
    done = subprocess.run(["make", "--silent", "--no-print-directory", *stamps], check=False)
    if done.returncode:
        raise Aborted(Exit.COULD_NOT_RUN, "the servers could not be installed")


async def judge_all(servers: Sequence[PublicServer], options: argparse.Namespace) -> Exit:
    stop_on_request()
    for server in servers:
        keep([await judge(server, options)])
    return report()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.public", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(public_servers())
    add = parser.add_argument
    add("names", metavar="SERVER", nargs="*", help=f"which servers; default all of: {', '.join(names)}")
    add("--node", default=".venv-node/bin/node", help="the Node executable")
    add("--results", type=Path, default=ROOT / "results" / "public", help="where runs are stored")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="parallel scenarios")
    add("--timeout", type=float, default=10, help="seconds to wait for an answer")
    add("--offline", action="store_true", help="judge the stored traces again and rewrite the page")
    options = parser.parse_args()
    check_names(parser, options.names, names, "server")
    return options


def execute(options: argparse.Namespace) -> Exit:
    if options.offline:
        refresh()
        return report()
    servers = [
        server for name, server in public_servers().items() if name in options.names or not options.names
    ]
    install(servers)
    return asyncio.run(judge_all(servers, options))


def main() -> int:
    options = parse()
    os.chdir(ROOT)
    return exit_code(lambda: execute(options))


if __name__ == "__main__":
    sys.exit(main())
