"""The manifest of a bundle: the server, the artifact, the period of validity, the keys, and every file.

The document is the payload of the envelope `MANIFEST.json`. Decoding is strict: canonical JSON, no unknown
fields, no file names that lead out of the bundle.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from assay.signing import canonical
from assay.signing.dsse import Role

from .layout import MANIFEST
from .manifest import MAX_FILES, BadManifest, Entry, check_names
from .statement import Sha256

PAYLOAD_TYPE: Final = "application/vnd.assay.manifest+json"
MAX_KEYS: Final = 16
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"

Word = Annotated[str, Meta(min_length=1, max_length=256)]
Moment = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ServerIdentity(_Part, frozen=True):
    name: Word
    version: Word


class Artifact(_Part, frozen=True):
    """The package of the server that users install: a wheel, an image, an archive."""

    name: Word
    sha256: Sha256

    @classmethod
    def of(cls, path: Path) -> Artifact:
        """
        Raises:
            OSError: the file cannot be read.
        """
        with path.open("rb") as file:
            return cls(path.name, file_digest(file, "sha256").hexdigest())


class ProfileReference(_Part, frozen=True):
    """The frozen list of demands, by its id and the SHA-256 of `profile.toml`."""

    id: Word
    sha256: Sha256


class BundleManifest(_Part, frozen=True):
    v: Literal[1]
    server: ServerIdentity
    artifact: Artifact | None
    profile: ProfileReference
    created: Moment
    expires: Moment
    roles: Annotated[dict[str, Role], Meta(max_length=MAX_KEYS)]
    """The role that each signing key claims. The verifier decides which keys to trust."""
    files: Annotated[tuple[Entry, ...], Meta(max_length=MAX_FILES)]


def encode(manifest: BundleManifest) -> bytes:
    return canonical.encode(msgspec.to_builtins(manifest))


def read(data: bytes) -> BundleManifest:
    """
    Raises:
        BadManifest: the data is not a valid manifest in canonical form.
    """
    try:
        manifest = msgspec.convert(canonical.decode(data), BundleManifest)
        begin, end = parse_moment(manifest.created), parse_moment(manifest.expires)
    except (canonical.NotCanonical, ValueError) as error:
        raise BadManifest(f"not a bundle manifest: {error}") from error
    if begin >= end:
        raise BadManifest("not a bundle manifest: it expires before it was created")
    names = [entry.path for entry in manifest.files]
    check_names(names)
    if MANIFEST in names:
        raise BadManifest(f"not a bundle manifest: {MANIFEST} cannot list itself")
    return manifest


def format_moment(time: datetime) -> str:
    """A time in the format of manifests: UTC, whole seconds."""
    return time.astimezone(UTC).strftime(_MOMENT)


def parse_moment(text: str) -> datetime:
    """
    Raises:
        ValueError: the text is not a valid time in that format.
    """
    return datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)
