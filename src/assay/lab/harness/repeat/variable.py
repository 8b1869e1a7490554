"""Variables of the shell for credentials, which are not stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay.lab.harness.subject.bearer import EXPIRED, FOREIGN, OTHER, USUAL, WEAK

VARIABLES: Final[Mapping[str, str]] = {
    USUAL: "TOKEN",
    OTHER: "TOKEN_OTHER",
    WEAK: "TOKEN_WEAK",
    EXPIRED: "TOKEN_EXPIRED",
    FOREIGN: "TOKEN_FOREIGN",
}
"""By the kind of token: those that a user can give as options."""
