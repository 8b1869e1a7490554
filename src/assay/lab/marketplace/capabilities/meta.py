"""What the profile puts into `_meta`: the keys, and what may stand there."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.subject.registry_entry import VERSION, as_object

RETENTION: Final = "dev.assay/retention"
PROVENANCE: Final = "dev.assay/provenance"
EFFECTS: Final = "dev.assay/effects"
TIERS: Final = ("short-30d", "standard-365d", "extended-730d", "legal-hold")
__all__ = ["EFFECTS", "PROVENANCE", "RETENTION", "TIERS", "VERSION", "is_tier", "tag"]


def tag(item: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    """What an item says under a key of its `_meta`; none where it says nothing."""
    found = as_object((item or {}).get("_meta")).get(key)
    return found if isinstance(found, dict) else None


def is_tier(value: Any) -> bool:
    return isinstance(value, str) and value in TIERS


def told(value: Any, key: str) -> str:
    """What was found under a key, for a reader."""
    return f"no {key}" if value is None else f"{key} is {value!r}"
