"""A bundle while it is verified: what is asked, what is known by now, its files, each compared when read."""

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

from .refusal import Reason, refused

MAX_EVIDENCE: Final = 256 * 1024 * 1024
"""The largest file in a bundle."""
SKEW: Final = timedelta(minutes=5)
"""How far the clocks of two machines may be apart."""


class CannotRead(Exception):
    """There is nothing to verify; the text says why."""


@dataclass
class Case:
    directory: Path
    trust: Trust
    now: datetime
    max_age: timedelta | None = None
    artifact: Path | None = None
    manifest: BundleManifest | None = None
    """Once its signature is known to be good."""
    signer: str = ""
    harness: str = ""
    """The key of a trusted harness that signed the metrics."""
    conclusion: str = ""
    """What the summary comes to, once it is known to be right."""
    _entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def listed(self) -> BundleManifest:
        if self.manifest is None:
            raise AssertionError("no step reads a manifest before its signature was verified")
        return self.manifest

    @property
    def entries(self) -> dict[str, Entry]:
        if not self._entries:
            self._entries = {entry.path: entry for entry in self.listed.files}
        return self._entries

    def content(self, name: str) -> bytes:
        """The bytes of a file, which are those that were signed.

        Raises:
            Refused: it is not listed, or another one.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise refused(Reason.MISSING_FILE, name, "no such file in the manifest")
        data = read_plain(self.directory, name, entry.size)
        if sha256(data).hexdigest() != entry.sha256:
            raise refused(Reason.CHANGED_FILE, name, "its SHA-256 is not the one in the manifest")
        return data


def read_plain(directory: Path, name: str, limit: int) -> bytes:
    """A file that is no link, pipe or device, up to one byte more than `limit`.

    Raises:
        Refused: it is not there, or is something else.
        CannotRead: it is there, and cannot be read.
    """
    try:
        # A pipe does not keep us waiting, and a link is not followed.
        descriptor = os.open(directory / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise refused(Reason.UNFIT_FILE, name, "only plain files are evidence")
            return file.read(limit + 1)
    except FileNotFoundError:
        raise refused(Reason.MISSING_FILE, name, "it is not there") from None
    except OSError as error:
        if (directory / name).is_symlink() or (directory / name).is_dir():
            raise refused(Reason.UNFIT_FILE, name, "only plain files are evidence") from error
        raise CannotRead(f"cannot read {directory / name}: {error.strerror}") from error


def is_there(directory: Path) -> None:
    """
    Raises:
        CannotRead: this is no directory.
    """
    try:
        if not stat.S_ISDIR(directory.stat().st_mode):
            raise CannotRead(f"{directory} is no directory: name the one with {MANIFEST}")
        next(directory.iterdir(), None)
    except OSError as error:
        raise CannotRead(f"cannot read {directory}: {error.strerror}") from error
