"""A bundle during verification: the options, the results so far, and its files, whose digests are checked."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

from assay.certify.bundle.bundle_manifest import BundleManifest
from assay.certify.bundle.layout import MANIFEST
from assay.certify.bundle.manifest import Entry
from assay.signing.dsse import Trust

from .refusal import RefusalReason, refuse

MAX_EVIDENCE: Final = 256 * 1024 * 1024
"""The largest file in a bundle."""
SKEW: Final = timedelta(minutes=5)
"""The tolerated difference between the clocks of two machines."""


class CannotRead(Exception):
    """The bundle cannot be read; the message gives the cause."""


@dataclass
class StoredBundle:
    directory: Path
    trust: Trust
    now: datetime
    max_age: timedelta | None = None
    artifact: Path | None = None
    verified_manifest: BundleManifest | None = None
    """Set once its signature is verified."""
    signer: str = ""
    harness: str = ""
    """The id of the trusted harness key that signed the metrics."""
    conclusion: str = ""
    """The conclusion of the summary, once it is verified."""
    _entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def manifest(self) -> BundleManifest:
        if self.verified_manifest is None:
            raise AssertionError("a step must not read the manifest before its signature is verified")
        return self.verified_manifest

    @property
    def entries(self) -> dict[str, Entry]:
        if not self._entries:
            self._entries = {entry.path: entry for entry in self.manifest.files}
        return self._entries

    def content(self, name: str) -> bytes:
        """Read a file and check its digest.

        Raises:
            BundleRefused: the file is not in the manifest, or was modified.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise refuse(RefusalReason.MISSING_FILE, name, "the manifest does not list it")
        data = read_plain(self.directory, name, entry.size)
        if sha256(data).hexdigest() != entry.sha256:
            raise refuse(RefusalReason.CHANGED_FILE, name, "its SHA-256 differs from the manifest")
        return data


def read_plain(directory: Path, name: str, limit: int) -> bytes:
    """Read a regular file, at most one byte more than `limit`.

    Raises:
        BundleRefused: the file is missing, or not a regular file.
        CannotRead: the file exists but is unreadable.
    """
    try:
        # Neither follow a link nor block on a pipe: the bundle is untrusted.
        descriptor = os.open(directory / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise refuse(RefusalReason.UNFIT_FILE, name, "only regular files are allowed")
            return file.read(limit + 1)
    except FileNotFoundError:
        raise refuse(RefusalReason.MISSING_FILE, name, "the file does not exist") from None
    except OSError as error:
        if (directory / name).is_symlink() or (directory / name).is_dir():
            raise refuse(RefusalReason.UNFIT_FILE, name, "only regular files are allowed") from error
        raise CannotRead(f"cannot read {directory / name}: {error.strerror}") from error


def check_directory(directory: Path) -> None:
    """
    Raises:
        CannotRead: the path is not a readable directory.
    """
    try:
        if not stat.S_ISDIR(directory.stat().st_mode):
            raise CannotRead(f"{directory} is not a directory: name the one that contains {MANIFEST}")
        next(directory.iterdir(), None)
    except OSError as error:
        raise CannotRead(f"cannot read {directory}: {error.strerror}") from error
