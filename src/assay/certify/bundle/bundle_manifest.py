"""What the manifest of a bundle says: whose evidence it is, of what, how long it holds, and every file.

The document is the payload of the envelope `MANIFEST.json`. It is read strictly: one form, no field that is
not listed here, names of files that lead nowhere else.
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


class Server(_Part, frozen=True):
    name: Word
    version: Word


class Artifact(_Part, frozen=True):
    """What is installed to have the server: a wheel, an image, an archive."""

    name: Word
    sha256: Sha256

    @classmethod
    def of(cls, path: Path) -> Artifact:
        """
        Raises:
            OSError: it cannot be read.
        """
        with path.open("rb") as file:
            return cls(path.name, file_digest(file, "sha256").hexdigest())


class Profile(_Part, frozen=True):
    """The frozen list of demands, by its name and the SHA-256 of `profile.toml`."""

    id: Word
    sha256: Sha256


class BundleManifest(_Part, frozen=True):
    v: Literal[1]
    server: Server
    artifact: Artifact | None
    profile: Profile
    created: Moment
    expires: Moment
    roles: Annotated[dict[str, Role], Meta(max_length=MAX_KEYS)]
    """What each key that signed something in the bundle says it is. Whom to believe, the verifier decides."""
    files: Annotated[tuple[Entry, ...], Meta(max_length=MAX_FILES)]


def encode(listed: BundleManifest) -> bytes:
    return canonical.encode(msgspec.to_builtins(listed))


def read(data: bytes) -> BundleManifest:
    """
    Raises:
        BadManifest: these bytes are none, or in another form.
    """
    try:
        listed = msgspec.convert(canonical.decode(data), BundleManifest)
        begin, end = moment(listed.created), moment(listed.expires)
    except (canonical.NotCanonical, ValueError) as error:
        raise BadManifest(f"no manifest of a bundle: {error}") from error
    if begin >= end:
        raise BadManifest("no manifest of a bundle: it expires before it begins")
    names = [entry.path for entry in listed.files]
    check_names(names)
    if MANIFEST in names:
        raise BadManifest(f"no manifest of a bundle: {MANIFEST} cannot list itself")
    return listed


def spelled(time: datetime) -> str:
    """A moment as manifests write it: UTC, whole seconds."""
    return time.astimezone(UTC).strftime(_MOMENT)


def moment(text: str) -> datetime:
    """
    Raises:
        ValueError: there is no such moment.
    """
    return datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)
