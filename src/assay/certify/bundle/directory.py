"""A bundle: a directory of evidence with a signed manifest that lists every file in it.

    MANIFEST.json            DSSE envelope over the manifest (`bundle_manifest`); made here
    profile.toml             the frozen list of demands; from `Contents.profile`
    attestations/*.dsse.json in-toto statements about summary, SBOM and vulnerabilities (`attestation`);
                             made here if there is a key
    all else                 as given in `Contents.files`: bytes by name, with slashes

Files with a meaning to whoever verifies: `summary.json`, `badge.json`, `shields.json`, `sbom.cdx.json`,
`vulnerabilities.json`, `metrics.json`, `run/run.json`, whose cells name their traces from there:
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
from .attestation import Occasion
from .bundle_manifest import PAYLOAD_TYPE, Artifact, BundleManifest, Profile, Server
from .layout import ATTESTATIONS, MANIFEST, PROFILE
from .manifest import BadManifest, Entry, files


class CannotWrite(Exception):
    """No bundle was written, and what was there is untouched; the text says why and what to do."""


@dataclass(frozen=True)
class Contents:
    """All that goes into a bundle, save what is made when it is written."""

    server: str
    version: str
    artifact: Artifact | None
    profile_id: str
    profile: bytes
    """The frozen list, byte for byte."""
    files: Mapping[str, bytes]
    created: datetime
    lifetime: timedelta


def write(
    directory: Path,
    contents: Contents,
    key: SigningKey | None,
    *,
    harness: str | None = None,
    force: bool = False,
) -> None:
    """Write a bundle at once, or nothing. Without a key its envelope has no signature: nobody will accept it.

    `harness` is the id of the key that signed `metrics.json`, if one did. `force` replaces an older bundle,
    and nothing else.

    Raises:
        CannotWrite: the directory holds something else, the disk is full, a name is no good, or the like.
    """
    try:
        found = _all_files(contents, key)
        listed = _manifest(contents, found, _roles(key, harness))
    except BadManifest as error:
        raise CannotWrite(f"no bundle: {error}") from error
    check_place(directory, force=force)
    beside = directory.absolute().parent / f".{directory.absolute().name}-{secrets.token_hex(8)}"
    try:
        _fill(beside, {**found, MANIFEST: _envelope(bundle_manifest.encode(listed), key)})
        _put(beside, directory)
    except OSError as error:
        raise CannotWrite(f"cannot write {directory}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _all_files(contents: Contents, key: SigningKey | None) -> dict[str, bytes]:
    reserved = [
        name for name in contents.files if name in (MANIFEST, PROFILE) or name.startswith(ATTESTATIONS)
    ]
    if reserved:
        raise BadManifest(f"{reserved[0]!r} is written with the bundle, not given")
    found = {**contents.files, PROFILE: contents.profile}
    if key is None:
        return found
    created = bundle_manifest.spelled(contents.created)
    claims = attestation.claims(found, Occasion(contents.profile_id, created, contents.artifact))
    return {**found, **{name: attestation.sign(claim, key) for name, claim in claims.items()}}


def _manifest(contents: Contents, found: Mapping[str, bytes], roles: dict[str, Role]) -> BundleManifest:
    listed = BundleManifest(
        v=1,
        server=Server(contents.server, contents.version),
        artifact=contents.artifact,
        profile=Profile(contents.profile_id, sha256(contents.profile).hexdigest()),
        created=bundle_manifest.spelled(contents.created),
        expires=bundle_manifest.spelled(contents.created + contents.lifetime),
        roles=roles,
        files=tuple(Entry(name, sha256(data).hexdigest(), len(data)) for name, data in sorted(found.items())),
    )
    return bundle_manifest.read(bundle_manifest.encode(listed))  # what could not be read is not written


def _roles(key: SigningKey | None, harness: str | None) -> dict[str, Role]:
    """A key that is both is named once, as the developer's: a verifier sees who signed the metrics."""
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


def check_place(directory: Path, *, force: bool) -> None:
    """Nothing but an empty directory or, if its user wants that, an older bundle may have to go.

    Raises:
        CannotWrite: it cannot be written there.
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
            raise CannotWrite(f"{directory} is in the way: name a directory")
        if not directory.exists() or not any(directory.iterdir()):
            return
        found = set(files(directory))
    except OSError as error:
        raise CannotWrite(f"cannot read {directory}: {error.strerror}") from error
    except BadManifest as error:
        raise CannotWrite(f"{directory} holds something else than a bundle: {error}") from error
    strange = found - _older(directory)
    if strange:
        raise CannotWrite(
            f"{directory} holds what is no part of a bundle, as {min(strange)}: name another directory"
        )
    if not force:
        raise CannotWrite(f"{directory} holds a bundle already: name another directory, or use --force")


def _older(directory: Path) -> set[str]:
    """The files of the bundle that is there, whoever signed it; none if there is no bundle."""
    try:
        envelope = msgspec.json.decode((directory / MANIFEST).read_bytes())
        listed = bundle_manifest.read(base64.b64decode(envelope["payload"], validate=True))
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {MANIFEST, *(entry.path for entry in listed.files)}


def _fill(directory: Path, found: Mapping[str, bytes]) -> None:
    for name, data in found.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _put(new: Path, directory: Path) -> None:
    """Whoever looks sees the old bundle, for a moment none, then the whole new one."""
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
