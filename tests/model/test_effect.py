"""Side effects that tools report."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
import pytest

from assay.model.effect import MOST_CHARACTERS, Effect, Target, digest


def effect(**fields: Any) -> Effect:
    return Effect(**{"op": "create", "target": Target("file", "a.txt"), **fields})


def test_effect_is_written_without_what_is_not_known() -> None:
    written = msgspec.to_builtins(effect())
    assert written == {"op": "create", "target": {"kind": "file", "id": "a.txt"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"op": "destroy"},
        {"target": Target("file", "")},
        {"target": Target("file", "a" * (MOST_CHARACTERS + 1))},
        {"count": 0},
    ],
)
def test_effect_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        effect(**fields)


def test_digest_names_its_hash() -> None:
    assert digest(b"data") == f"sha256:{sha256(b'data').hexdigest()}"


def test_nothing_has_no_digest() -> None:
    assert digest(None) is None
