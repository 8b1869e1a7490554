"""The `_meta` keys of the profile, and their values."""

from __future__ import annotations

import re
from typing import Any, Final

from assay.lab.harness.subject.registry_entry import as_object
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

RETENTION: Final = "dev.assay/retention"
PROVENANCE: Final = "dev.assay/provenance"
EFFECTS: Final = "dev.assay/effects"
TIERS: Final = ("short-30d", "standard-365d", "extended-730d", "legal-hold")
SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
ALL_CONTENT: Final = frozenset().union(*(revision.content for revision in REVISIONS))


def tag(item: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    """The object under a key of an item's `_meta`, if any."""
    value = as_object((item or {}).get("_meta")).get(key)
    return value if isinstance(value, dict) else None


def describe(value: Any, key: str) -> str:
    return f"no {key}" if value is None else f"{key} is {value!r}"


def is_tier(value: Any) -> bool:
    return isinstance(value, str) and value in TIERS


def is_version(value: Any) -> bool:
    return isinstance(value, str) and SEMVER.fullmatch(value) is not None


def knows_all_content(revision: Revision) -> bool:
    """Whether a revision has every type of content. In others a prompt, and so its digest, may differ."""
    return revision.content == ALL_CONTENT
