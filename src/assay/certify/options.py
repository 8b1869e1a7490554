"""Options of the functions of `assay.certify`. Each has the name of the command's option."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from assay.lab.harness.run.ending import DEADLINE
from assay.lab.options import Access, Evidence

from .profile_list import INTELGRAPH

LIFETIME: Final = timedelta(days=90)


class CertifyOptions(Struct, frozen=True, kw_only=True):
    profile: str = INTELGRAPH
    server: str | None = None
    """The server's name, as in the registry. Default: the name that it reports."""
    server_version: str | None = None
    access: Access = Access()
    evidence: Evidence = Evidence()
    scenario: tuple[str, ...] = ()
    """Globs. What they leave out is not measured."""
    spec_version: tuple[str, ...] = ()
    allow_effects: bool = False
    scope: str | None = None
    """`stdio` or `http`, for a server that has only that transport. Default: both are expected."""
    sandbox: str | None = None
    """Run the commands in a sandbox of this level at least (`L1` to `L3`), or of the strongest (`auto`)."""
    sandbox_read: tuple[Path, ...] = ()
    """Further files and directories that the server can read there."""
    sandbox_env: tuple[str, ...] = ()
    """Further variables that it gets there, by name."""
    sandbox_memory: int | None = None
    """Bytes of memory that it can use there. Default: 1 GiB."""
    bench: str | None = None
    """Measure latencies: `quick` or `full`."""
    replay: bool = False
    """Record messages, replay them, and compare the answers."""
    timeout: float = 10.0
    deadline: float = DEADLINE
    """Seconds for all judging together; nothing is written if they are not enough."""
    jobs: int | None = None
    artifact: Path | None = None
    """The file that users install. Its digest ties the evidence to it."""
    python: Path | None = None
    """The server's interpreter, for the SBOM. Default: the one that the lab starts."""
    npm: Path | None = None
    """The directory of the server's `package-lock.json` and `node_modules`, for the SBOM."""
    sbom: Path | None = None
    """An SBOM made elsewhere, CycloneDX or SPDX in JSON. It is compared with what is installed."""
    attestation: Path | None = None
    """Provenance of the build (in-toto, SLSA). Its subject must be the artifact."""
    osv: Path | None = None
    """An export of known vulnerabilities: a JSON file, directory or zip."""
    waive: tuple[str, ...] = ()
    """Vulnerabilities of unknown severity that do no harm."""
    metrics: Path | None = None
    """Measurements of your own: `results.json`, signed or not."""
    platform: str | None = None
    """The platform of the run in `metrics`, if the server has runs on several."""
    trust_harness: Path | None = None
    """The public key of the harness that signed `metrics`."""
    harness_key: Path | None = None
    """Sign `metrics` with this key, as a harness."""
    out: Path | None = None
    """The directory to write the bundle to. Default: it is not written."""
    force: bool = False
    """Replace an older bundle there."""
    key: Path | None = None
    """Sign the bundle with this key."""
    lifetime: timedelta = LIFETIME


class VerifyOptions(Struct, frozen=True, kw_only=True):
    trust: Sequence[Path]
    """Public keys of developers whose bundles are accepted."""
    trust_harness: Sequence[Path] = ()
    """Public keys of harnesses whose measurements are accepted."""
    max_age: timedelta | None = None
    artifact: Path | None = None
    """The evidence must be about this file."""
    rejudge: bool = False
    """Judge every stored trace again."""
    against: str | None = None
    """A live server, as on the command line: what it lists must be what was judged."""
    access: Access = Access()
    """Credentials for it."""
    timeout: float = 10.0
    now: datetime | None = None
    """Default: the time of the call."""


class EntryOptions(Struct, frozen=True, kw_only=True):
    """For an entry in a registry: how the server is reached, and what only its publisher knows."""

    name: str
    server_version: str
    access: Access = Access()
    timeout: float = 10.0
    description: str = ""
    """Default: the description, title or name that the server reports."""
    title: str | None = None
    package: tuple[str, ...] = ()
    """`KIND:ID`, as `pypi:my-server`."""
    remote: tuple[str, ...] = ()
    heartbeat: float | None = None
    resume: tuple[str, ...] = ()
    """Revisions with resumable streams."""
    auth_mode: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    previous: Path | None = None
    """The entry that this one follows."""
