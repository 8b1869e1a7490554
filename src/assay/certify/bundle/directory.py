"""A bundle: a directory of evidence with a signed manifest that lists every file in it.

    MANIFEST.json            DSSE envelope over the manifest (`bundle_manifest`); created here
    profile.toml             the frozen list of demands; from `BundleSource.profile`
    attestations/*.dsse.json in-toto statements about summary, SBOM and vulnerabilities (`attestation`);
                             created here if there is a key
    other files              from `BundleSource.files`: bytes by name, with slashes

A verifier reads `summary.json`, `badge.json`, `shields.json`, `sbom.cdx.json`, `vulnerabilities.json`,
`metrics.json` and `run/run.json`. The run names its traces relative to its own directory:
`"trace": "traces/<name>.ndjson"` is the file `run/traces/<name>.ndjson`.
"""

from __future__ import annotations

import base64
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from assay.signing import canonical, dsse
from assay.signing.dsse import Role
from assay.signing.keys import SigningKey

from . import attestation, bundle_manifest
from .attestation import StatementContext
from .bundle_manifest import PAYLOAD_TYPE, Artifact, BundleManifest, ProfileReference, ServerIdentity
from .layout import ATTESTATIONS, MANIFEST, PROFILE
from .manifest import BadManifest, Entry, list_files


class CannotWrite(Exception):
    """The bundle was not written, and existing files are untouched; the message gives cause and fix."""


@dataclass(frozen=True)
class BundleSource:
    """The contents of a bundle, without the files that are created on writing."""

    server: str
    version: str
    artifact: Artifact | None
    profile_id: str
    profile: bytes
    """The frozen list of demands, unmodified."""
    files: Mapping[str, bytes]
    created: datetime
    lifetime: timedelta


def write(
    directory: Path,
    source: BundleSource,
    key: SigningKey | None,
    *,
    harness: str | None = None,
    force: bool = False,
) -> None:
    """Write a bundle atomically. Without a key the envelope is unsigned, and no verifier accepts it.

    `harness` is the id of the key that signed `metrics.json`, if any. `force` replaces an existing bundle,
    but no other files.

    Raises:
        CannotWrite: the directory contains other files, a file name is invalid, or writing failed.
    """
    try:
        files = _all_files(source, key)
        manifest = _manifest(source, files, _roles(key, harness))
    except BadManifest as error:
        raise CannotWrite(f"cannot create a bundle: {error}") from error
    check_target(directory, force=force)
    temporary = directory.absolute().parent / f".{directory.absolute().name}-{secrets.token_hex(8)}"
    try:
        _fill(temporary, {**files, MANIFEST: _envelope(bundle_manifest.encode(manifest), key)})
        _replace(temporary, directory)
    except OSError as error:
        raise CannotWrite(f"cannot write {directory}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _all_files(source: BundleSource, key: SigningKey | None) -> dict[str, bytes]:
    reserved = [name for name in source.files if name in (MANIFEST, PROFILE) or name.startswith(ATTESTATIONS)]
    if reserved:
        raise BadManifest(f"{reserved[0]!r} is a reserved name, created with the bundle")
    files = {**source.files, PROFILE: source.profile}
    if key is None:
        return files
    created = bundle_manifest.format_moment(source.created)
    claims = attestation.claims(files, StatementContext(source.profile_id, created, source.artifact))
    return {**files, **{name: attestation.sign(claim, key) for name, claim in claims.items()}}


def _manifest(source: BundleSource, files: Mapping[str, bytes], roles: dict[str, Role]) -> BundleManifest:
    manifest = BundleManifest(
        v=1,
        server=ServerIdentity(source.server, source.version),
        artifact=source.artifact,
        profile=ProfileReference(source.profile_id, sha256(source.profile).hexdigest()),
        created=bundle_manifest.format_moment(source.created),
        expires=bundle_manifest.format_moment(source.created + source.lifetime),
        roles=roles,
        files=tuple(Entry(name, sha256(data).hexdigest(), len(data)) for name, data in sorted(files.items())),
    )
    return bundle_manifest.read(bundle_manifest.encode(manifest))  # validates it before anything is written


def _roles(key: SigningKey | None, harness: str | None) -> dict[str, Role]:
    """A key that is both is listed once, as the developer's: the metrics are then self-attested."""
    return {
        **({harness: Role.HARNESS} if harness else {}),
        **({key.public.id: Role.DEVELOPER} if key else {}),
    }


def _envelope(payload: bytes, key: SigningKey | None) -> bytes:
    if key is not None:
        return dsse.sign(payload, key, PAYLOAD_TYPE)
    unsigned = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [],
    }
    return canonical.encode(unsigned)


def check_target(directory: Path, *, force: bool) -> None:
    """Accept only a missing or empty directory or, with `force`, an existing bundle.

    Raises:
        CannotWrite: the bundle cannot be written there.
    """
    _check_free(directory, force=force)
    nearest = next(path for path in directory.absolute().parents if path.exists())
    try:
        with TemporaryDirectory(dir=nearest):
            pass
    except OSError as error:
        raise CannotWrite(f"cannot write {directory}: {error.strerror}: name another directory") from error


def _check_free(directory: Path, *, force: bool) -> None:
    try:
        if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
            raise CannotWrite(f"{directory} is not a directory: name another one")
        if not directory.exists() or not any(directory.iterdir()):
            return
        present = set(list_files(directory))
    except OSError as error:
        raise CannotWrite(f"cannot read {directory}: {error.strerror}") from error
    except BadManifest as error:
        raise CannotWrite(f"{directory} contains other files than a bundle: {error}") from error
    foreign = present - _bundle_files(directory)
    if foreign:
        raise CannotWrite(
            f"{directory} contains files that are not part of a bundle, such as {min(foreign)}: "
            "name another directory"
        )
    if not force:
        raise CannotWrite(f"{directory} already contains a bundle: name another directory, or use --force")


def _bundle_files(directory: Path) -> set[str]:
    """The files of an existing bundle, whose signature is not checked; empty if there is none."""
    try:
        envelope = msgspec.json.decode((directory / MANIFEST).read_bytes())
        manifest = bundle_manifest.read(base64.b64decode(envelope["payload"], validate=True))
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {MANIFEST, *(entry.path for entry in manifest.files)}


def _fill(directory: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _replace(new: Path, directory: Path) -> None:
    """A reader sees the old bundle, for a moment none, then the complete new one."""
    old = new.with_name(f"{new.name}-old")
    if directory.exists():
        directory.rename(old)
    try:
        new.rename(directory)
    except OSError:
        if old.exists():
            old.rename(directory)
        raise
    shutil.rmtree(old, ignore_errors=True)
