"""Certify public servers, keep the traces that show findings, write docs/evidence/certified.md."""

import shlex
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from assay.certify import summary
from assay.lab.harness.subject.subject import UrlSubject
from interop.certified.page import page
from interop.certified.proof import CERTIFIED, done
from interop.certified.reason import HERE, breaches, read_reasons
from interop.certified.record import Certified, certified
from interop.certified.scene import ASSAY
from interop.official import Exit
from interop.public.__main__ import install
from interop.public.table import PublicServer, public_servers

ROOT = HERE.parents[1]
TRACES = HERE / "traces"
RECORD = HERE / "record.json"
PAGE = ROOT / "docs" / "evidence" / "certified.md"
NAMES = ("sqlite", "context7")
"""One in Python on stdio, one in TypeScript on HTTP."""


async def certify_public(results: Path, node: str) -> Exit:
    """From the root of the project, so that no command names the place of a checkout."""
    servers = [public_servers()[name] for name in NAMES]
    install(servers)
    results.mkdir(parents=True)
    await done((*ASSAY, "keygen", str(results / "dev")), results / "keygen.log")
    every = [await judged(server, results, node) for server in servers]
    RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(every), indent=1) + b"\n")
    return write_page()


def write_page() -> Exit:
    reasons, every = read_reasons(), read_record()
    PAGE.write_text(page(every, public_servers(), reasons), "utf-8")
    problems = list(breaches(reasons, every))
    print("\n".join((f"written: {PAGE.relative_to(ROOT)}", *problems)))
    return Exit.DOES_NOT_CONFORM if problems else Exit.CONFORMS


def read_record() -> list[Certified]:
    return msgspec.json.decode(RECORD.read_bytes(), type=list[Certified])


async def judged(server: PublicServer, results: Path, node: str) -> Certified:
    bundle = results / server.name
    async with reached(server, node) as options:
        about = ("--server", server.package, "--server-version", server.version(), *seen_of(server))
        written = ("--key", str(results / "dev.key"), "--out", str(bundle))
        log = results / f"{server.name}.log"
        said, _ = await done((*ASSAY, "certify", *options, *about, *written), log, CERTIFIED)
    found = summary.read(said)
    one = certified(server.name, told(options, about), found)
    print(f"{server.package} {one.version} on {one.transport}: {one.conclusion},", end=" ")
    print(f"{one.counts.passed} of {one.counts.scored} scored demands met", flush=True)
    keep(one, bundle)
    return one


def told(options: Sequence[str], about: Sequence[str]) -> str:
    """The command, as one would type it."""
    return shlex.join(("assay", "certify", *options, *about, "--key", "dev.key", "--out", "evidence"))


def seen_of(server: PublicServer) -> tuple[str, ...]:
    """What can be seen beside its messages."""
    effects = ("--allow-effects", "--observe", str(server.home / "data")) if server.effects else ()
    python = server.home / "bin" / "python"
    return (*effects, *(("--python", str(python)) if python.exists() else ()))


@asynccontextmanager
async def reached(server: PublicServer, node: str) -> AsyncIterator[tuple[str, ...]]:
    """The server, on its standard streams or started to listen: `assay certify` starts only the former."""
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


def keep(one: Certified, bundle: Path) -> None:
    folder = TRACES / one.server
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in {each.trace for found in one.found for each in found.findings}:
        shutil.copyfile(bundle / "run" / "traces" / name, folder / name)
