"""Libraries that come with the extra `certify`."""

from __future__ import annotations

from typing import Final

from assay.lab.extra import LAB, TOKENS, require

EVIDENCE: Final = ("cvss", "cyclonedx", "packageurl", "packaging", "rfc8785", "univers")


def require_certify() -> None:
    """
    Raises:
        MissingExtra: a library that evidence is made with is not installed.
    """
    require((*LAB, *TOKENS, *EVIDENCE), "certify,lab", "certification")


def require_verify() -> None:
    """Check for what reads evidence: that takes no library of the lab.

    Raises:
        MissingExtra: one is not installed.
    """
    require(("cryptography", *EVIDENCE), "certify", "verification")
