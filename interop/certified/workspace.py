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
from zipfile import ZIP_DEFLATED, ZipFile

from assay import bundled
from assay.certify.bundle.bundle_manifest import Artifact
from assay.certify.bundle.statement import encode, statement
from assay.lab.harness.sabotage.certificate_authority import Issuer
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.signing import dsse
from assay.signing.keys import read_signing_key
from interop.child_process import START_TIMEOUT, child
from interop.official import Aborted, Exit, tail
from interop.official_authority import free_port

ASSAY = (sys.executable, "-m", "assay")
SERVER = "dev.assay/reference"
EDITION = "intelgraph/2026-11"
SCOPES = ("mcp", "mcp:use")
# A replay cannot seed a server at a URL.
SEEDS = ("--clock", "2026-01-01T00:00:00+00:00", "--random-seed", "certified")
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

    @property
    def artifact(self) -> Path:
        return self.directory / "assay_reference.zip"

    @property
    def attestation(self) -> Path:
        return self.directory / "provenance.intoto.jsonl"

    def attest(self) -> None:
        """Pack the server, and attest that it was built here."""
        folder = Path(bundled.__file__).parent / "reference"
        with ZipFile(self.artifact, "w", ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*.py")):
                archive.write(path, path.relative_to(folder))
        builder = {"builder": {"id": "https://example.org/make-certified"}, "metadata": {}}
        build = {"buildType": "https://example.org/zip", "externalParameters": {}}
        claim = statement(
            {self.artifact.name: Artifact.of(self.artifact).sha256},
            "https://slsa.dev/provenance/v1",
            {"buildDefinition": build, "runDetails": builder},
        )
        self.attestation.write_bytes(dsse.sign(encode(claim), read_signing_key(self.key)))

    def prepare(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "note.txt").write_text("A note.\n", "utf-8")
        if self.osv is None:
            today = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            self.export.write_text(json.dumps([{**SAMPLE_RECORD, "modified": today}]), "utf-8")

    def command(self, *more: str) -> tuple[str, ...]:
        """The command of the server with everything that the profile demands.

        Its ledger is in the default directory: in a sandbox it can write only to its home.
        """
        profile = ("--profile", EDITION, "--root", str(self.folder), "--ledger-key", str(self.key))
        return (*ASSAY, "serve", "reference", *profile, *more)

    @property
    def state(self) -> str:
        """The variable that keeps the ledger of a server without a sandbox in this directory."""
        return f"XDG_STATE_HOME={self.directory}"


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
            *("--transport", "http", "--port", port, "--telemetry", f"http://{otlp}", *SEEDS),
            *("--auth", f"issuer={issuer},audience={url},scopes={','.join(SCOPES)}"),
            *("--tls-cert", str(server.cert), "--tls-key", str(server.key)),
            *("--tls-client-ca", str(certificates.file)),
            *(("--heartbeat", "1") if workspace.quick else ()),
        )
        certificate_options = ("--ca", str(certificates.file), "--client-cert", str(client.cert))
        options = ("-e", url, "--authority", issuer, *certificate_options, "--client-key", str(client.key))
        started = ("env", workspace.state, *command)
        async with running(started, workspace.directory / "server.log", rb"MCP endpoint: (\S+)"):
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
