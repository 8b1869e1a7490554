"""What a certification needs besides the server: keys, directories, certificates, an authority."""

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
from interop.child_process import START_TIMEOUT, child
from interop.official import Aborted, Exit, tail
from interop.official_authority import free_port

ASSAY = (sys.executable, "-m", "assay")
SERVER = "dev.assay/reference"
SCOPES = ("mcp", "mcp:use")
NEWEST = tuple(revisions[-1].date for revisions in (HANDSHAKE, PER_REQUEST))
# One record shows that the measurement works, not that the server has no vulnerabilities; --osv gives a real
# export.
SAMPLE_RECORD = {
    "schema_version": "1.7.0",
    "id": "ASSAY-MADE-UP-1",
    "summary": "sample record for a package that does not exist",
    "affected": [
        {"package": {"ecosystem": "PyPI", "name": "no-such-package-of-assay"}, "versions": ["1.0.0"]}
    ],
}


@dataclass(frozen=True)
class Workspace:
    """The directory of one certification."""

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
        """The directory that the server serves and may write to."""
        return self.directory / "root"

    def prepare(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "note.txt").write_text("A note.\n", "utf-8")
        if self.osv is None:
            today = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            self.export.write_text(json.dumps([{**SAMPLE_RECORD, "modified": today}]), "utf-8")

    def command(self, *more: str) -> tuple[str, ...]:
        """The command of the server with everything that the profile demands."""
        ledger = ("--ledger", str(self.directory / "ledger"), "--ledger-key", str(self.key))
        profile = ("--profile", "intelgraph", "--root", str(self.folder), *ledger)
        return (*ASSAY, "serve", "reference", *profile, *more)


@dataclass(frozen=True)
class ProtectedEndpoint:
    """A running server: the options for reaching it, and where it sends its spans."""

    options: tuple[str, ...]
    otlp: str


@asynccontextmanager
async def protected(workspace: Workspace) -> AsyncIterator[ProtectedEndpoint]:
    """The server on HTTP, which requires a client certificate and a token from the authority."""
    certificates = Issuer(workspace.directory, "assay-certified")
    server, client = certificates.issue("server"), certificates.issue("client")
    url, otlp = f"https://localhost:{free_port()}/mcp", f"127.0.0.1:{free_port()}"
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    authority = (*ASSAY, "authority", "--port", "0", "--dev-mint", "--auto-approve", *scopes)
    async with running(authority, workspace.directory / "authority.log", rb"issuer: (http\S+)") as issuer:
        port = url.removesuffix("/mcp").rpartition(":")[2]
        command = workspace.command(
            *("--transport", "http", "--port", port, "--telemetry", f"http://{otlp}"),
            *("--auth", f"issuer={issuer},audience={url},scopes={','.join(SCOPES)}"),
            *("--tls-cert", str(server.cert), "--tls-key", str(server.key)),
            *("--tls-client-ca", str(certificates.file)),
            *(("--heartbeat", "1") if workspace.quick else ()),
        )
        certificate_options = ("--ca", str(certificates.file), "--client-cert", str(client.cert))
        options = ("-e", url, "--authority", issuer, *certificate_options, "--client-key", str(client.key))
        async with running(command, workspace.directory / "server.log", rb"MCP endpoint: (\S+)"):
            yield ProtectedEndpoint(options, otlp)


@asynccontextmanager
async def running(command: Sequence[str], log: Path, ready: bytes) -> AsyncIterator[str]:
    """Start a command and yield the match of its ready message.

    Raises:
        Aborted: the message did not come in time.
    """
    async with child(command, log) as process:
        assert process.stdout is not None
        try:
            message = await asyncio.wait_for(_read_until(process.stdout, ready), START_TIMEOUT)
        except TimeoutError:
            message = None
        if message is None:
            raise Aborted(Exit.SERVER_DID_NOT_START, f"{log.stem} did not start:\n{tail(log)}")
        # Unread output would eventually block the process.
        drain = asyncio.create_task(process.stdout.read())
        try:
            yield message
        finally:
            drain.cancel()


async def _read_until(stdout: asyncio.StreamReader, ready: bytes) -> str | None:
    while line := await stdout.readline():
        if match := re.search(ready, line):
            return match[1].decode()
    return None
