"""Certify public servers, store the traces with findings and write docs/evidence/certified.md."""

import shlex
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.certify import summary
from assay.certify.bundle import layout
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.run.run import parse_run
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.file import read_trace
from assay.lab.suites import suite_named
from interop.certified.page import page
from interop.certified.proof import CERTIFIED, run_command
from interop.certified.reason import HERE, breaches, read_reasons
from interop.certified.record import CertifiedServer, Finding, UnmetDemand, certified_server
from interop.certified.workspace import ASSAY
from interop.official import Aborted, Exit
from interop.public.__main__ import install
from interop.public.table import PublicServer, public_servers

ROOT = HERE.parents[1]
TRACES = HERE / "traces"
RECORD = HERE / "record.json"
PAGE = ROOT / "docs" / "evidence" / "certified.md"
NAMES = ("sqlite", "context7")
"""One in Python on stdio, one in TypeScript on HTTP."""


async def certify_public(results: Path, node: str) -> Exit:
    """Run from the root of the project, so that no command contains a path of this machine."""
    servers = [public_servers()[name] for name in NAMES]
    install(servers)
    results.mkdir(parents=True)
    await run_command((*ASSAY, "keygen", str(results / "dev")), results / "keygen.log")
    certified_server = [await certify_server(server, results, node) for server in servers]
    RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(certified_server), indent=1) + b"\n")
    return write_page()


def refresh() -> Exit:
    """Judge the stored traces again, so that findings have today's wording, and rewrite the page."""
    write_record([rejudged_server(result) for result in read_record()])
    return write_page()


def rejudged_server(result: CertifiedServer) -> CertifiedServer:
    """
    Raises:
        Aborted: a stored trace no longer shows its finding.
    """
    traces = [(path.name, read_trace(path)) for path in sorted((TRACES / result.server).glob("*.ndjson"))]
    current = {
        (check.id, cell.trace, tuple(finding.excerpt)): finding
        for cell in rejudged([suite_named("marketplace")], traces).cells
        for check in cell.checks
        for finding in check.findings
    }

    def reworded(unmet: UnmetDemand, finding: Finding) -> Finding:
        again = current.get((unmet.demand, finding.trace, tuple(finding.excerpt)))
        if again is None:
            raise Aborted(Exit.DOES_NOT_CONFORM, f"{finding.trace} does not show {unmet.demand} any more")
        return replace(finding, expected=again.expected, observed=again.observed)

    demands = [
        replace(unmet, findings=[reworded(unmet, finding) for finding in unmet.findings])
        for unmet in result.unmet
    ]
    return replace(result, unmet=demands)


def write_record(certified: Sequence[CertifiedServer]) -> None:
    RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(certified), indent=1) + b"\n")


def write_page() -> Exit:
    reasons, certified_server = read_reasons(), read_record()
    PAGE.write_text(page(certified_server, public_servers(), reasons), "utf-8")
    problems = list(breaches(reasons, certified_server))
    print("\n".join((f"written: {PAGE.relative_to(ROOT)}", *problems)))
    return Exit.DOES_NOT_CONFORM if problems else Exit.CONFORMS


def read_record() -> list[CertifiedServer]:
    return msgspec.json.decode(RECORD.read_bytes(), type=list[CertifiedServer])


async def certify_server(server: PublicServer, results: Path, node: str) -> CertifiedServer:
    bundle = results / server.name
    async with reachable(server, node) as target:
        about = (
            "--server",
            server.package,
            "--server-version",
            server.version(),
            *("--scope", "http" if server.url else "stdio", "--bench", "quick", "--replay"),
            *observation_options(server),
        )
        written = ("--key", str(results / "dev.key"), "--out", str(bundle))
        log = results / f"{server.name}.log"
        output, _ = await run_command((*ASSAY, "certify", *target, *about, *written), log, CERTIFIED)
    document = summary.read(output)
    run = parse_run((bundle / layout.RUN).read_bytes(), layout.RUN)
    result = certified_server(server.name, typed_command(target, about), document, run)
    print(f"{server.package} {result.version} on {result.transport}: {result.conclusion},", end=" ")
    print(f"{result.counts.passed} of {result.counts.scored} scored demands met", flush=True)
    store_traces(result, bundle)
    return result


def typed_command(target: Sequence[str], about: Sequence[str]) -> str:
    """The command as a user would type it."""
    return shlex.join(("assay", "certify", *target, *about, "--key", "dev.key", "--out", "evidence"))


def observation_options(server: PublicServer) -> tuple[str, ...]:
    """Options for what can be observed besides messages."""
    effects = ("--allow-effects", "--observe", str(server.home / "data")) if server.effects else ()
    python = server.home / "bin" / "python"
    return (*effects, *(("--python", str(python)) if python.exists() else ()))


@asynccontextmanager
async def reachable(server: PublicServer, node: str) -> AsyncIterator[tuple[str, ...]]:
    """The options for the server. One on HTTP is started here: `assay certify` starts only stdio servers."""
    places = server.places(node)
    command = [word.format_map(places) for word in server.command]
    if not server.url:
        yield ("--stdio", shlex.join(command))
        return
    url = server.url.format_map(places)
    subject = UrlSubject(url, command=command)
    await subject.start()
    try:
        yield ("-e", url)
    finally:
        await subject.stop()


def store_traces(result: CertifiedServer, bundle: Path) -> None:
    folder = TRACES / result.server
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in {finding.trace for unmet in result.unmet for finding in unmet.findings}:
        shutil.copyfile(bundle / "run" / "traces" / name, folder / name)
