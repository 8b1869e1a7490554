"""What a certification needs beside the server: keys, a folder to write to, certificates, an authority."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.lab.harness.sabotage.certificate_authority import Issuer
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from interop.children import START_TIMEOUT, child
from interop.official import Aborted, Exit, tail
from interop.official_authority import free_port

ASSAY = (sys.executable, "-m", "assay")
SERVER = "dev.assay/reference"
SCOPES = ("mcp", "mcp:use")
NEWEST = tuple(revisions[-1].date for revisions in (HANDSHAKE, PER_REQUEST))
# Nobody here can reach a database of vulnerabilities. One record shows that the measure works, not that
# nothing is known: whoever wants that gives an export with --osv.
MADE_UP = {
    "schema_version": "1.7.0",
    "id": "ASSAY-MADE-UP-1",
    "summary": "made up, of a package that nobody has",
    "affected": [
        {"package": {"ecosystem": "PyPI", "name": "no-such-package-of-assay"}, "versions": ["1.0.0"]}
    ],
}


@dataclass(frozen=True)
class Scene:
    """One case in a folder of its own."""

    directory: Path
    quick: bool
    osv: Path | None = None

    @property
    def key(self) -> Path:
        return self.directory / "dev.key"

    @property
    def public(self) -> Path:
        return self.key.with_suffix(".pub")

    @property
    def evidence(self) -> Path:
        return self.directory / "evidence"

    @property
    def export(self) -> Path:
        return self.osv or self.directory / "osv.json"

    @property
    def folder(self) -> Path:
        """What the server serves, and may write to."""
        return self.directory / "root"

    def prepare(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "note.txt").write_text("A note.\n", "utf-8")
        if self.osv is None:
            today = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            self.export.write_text(json.dumps([{**MADE_UP, "modified": today}]), "utf-8")

    def served(self, *more: str) -> tuple[str, ...]:
        """The server with all that the profile asks for."""
        ledger = ("--ledger", str(self.directory / "ledger"), "--ledger-key", str(self.key))
        profile = ("--profile", "intelgraph", "--root", str(self.folder), *ledger)
        return (*ASSAY, "serve", "reference", *profile, *more)


@dataclass(frozen=True)
class Protected:
    """A server that is there: how to reach it and be let in, and where it sends its spans."""

    reached: tuple[str, ...]
    otlp: str


@asynccontextmanager
async def protected(scene: Scene) -> AsyncIterator[Protected]:
    """The server on HTTP, for who shows a certificate and a token of the authority."""
    certificates = Issuer(scene.directory, "assay-certified")
    server, client = certificates.issue("server"), certificates.issue("client")
    url, otlp = f"https://localhost:{free_port()}/mcp", f"127.0.0.1:{free_port()}"
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    authority = (*ASSAY, "authority", "--port", "0", "--dev-mint", "--auto-approve", *scopes)
    async with started(authority, scene.directory / "authority.log", rb"issuer: (http\S+)") as issuer:
        port = url.removesuffix("/mcp").rpartition(":")[2]
        command = scene.served(
            *("--transport", "http", "--port", port, "--telemetry", f"http://{otlp}"),
            *("--auth", f"issuer={issuer},audience={url},scopes={','.join(SCOPES)}"),
            *("--tls-cert", str(server.cert), "--tls-key", str(server.key)),
            *("--tls-client-ca", str(certificates.file)),
            *(("--heartbeat", "1") if scene.quick else ()),
        )
        shown = ("--ca", str(certificates.file), "--client-cert", str(client.cert))
        reached = ("-e", url, "--authority", issuer, *shown, "--client-key", str(client.key))
        async with started(command, scene.directory / "server.log", rb"MCP endpoint: (\S+)"):
            yield Protected(reached, otlp)


@asynccontextmanager
async def started(command: Sequence[str], log: Path, ready: bytes) -> AsyncIterator[str]:
    """Start a command, and give what it says when it is ready.

    Raises:
        Aborted: it did not say it in time.
    """
    async with child(command, log) as process:
        assert process.stdout is not None
        try:
            said = await asyncio.wait_for(_said(process.stdout, ready), START_TIMEOUT)
        except TimeoutError:
            said = None
        if said is None:
            raise Aborted(Exit.SERVER_DID_NOT_START, f"{log.stem} did not start:\n{tail(log)}")
        # Unread output would block it in the end.
        drain = asyncio.create_task(process.stdout.read())
        try:
            yield said
        finally:
            drain.cancel()


async def _said(stdout: asyncio.StreamReader, ready: bytes) -> str | None:
    while line := await stdout.readline():
        if match := re.search(ready, line):
            return match[1].decode()
    return None
