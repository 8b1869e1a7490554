"""Retention tiers: how long data from a server may be kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from typing import Any, Final

from assay.model.error import RegistrationError

from .keys import RETENTION

TIERS: Final = ("short-30d", "standard-365d", "extended-730d", "legal-hold")
DEFAULT: Final = "standard-365d"


def check_tier(tier: object, subject: str) -> str:
    """
    Raises:
        RegistrationError: The tier is unknown.
    """
    if not isinstance(tier, str) or tier not in TIERS:
        raise RegistrationError(f"{subject}: unknown retention tier: {tier!r}; use one of {', '.join(TIERS)}")
    return tier


def tier_in(meta: Any, subject: str) -> str | None:
    """The tier in a `_meta`, if any.

    Raises:
        RegistrationError: The tier is unknown, or malformed.
    """
    if not meta or RETENTION not in meta:
        return None
    if not isinstance(meta[RETENTION], Mapping):
        raise RegistrationError(
            f'{subject}: retention must be written as {{"tier": "{DEFAULT}"}}: {meta[RETENTION]!r}'
        )
    return check_tier(meta[RETENTION].get("tier"), subject)


class Retention:
    """The tier of a URI: that of the first glob that matches, else the default."""

    def __init__(self, default: str, patterns: Mapping[str, str]) -> None:
        self.default = check_tier(default, "retention")
        checked = {glob: check_tier(tier, f"retention of {glob}") for glob, tier in patterns.items()}
        self._patterns = [(re.compile(translate(glob)), tier) for glob, tier in checked.items()]

    def by_uri(self, uri: str) -> str:
        return next((tier for glob, tier in self._patterns if glob.match(uri)), self.default)
