"""The fuzzer's own requirements, which apply in every revision."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from assay.lab.harness.requirement import Level, Requirement
from assay.revisions.registry import BY_DATE

HOME = Path(__file__).with_suffix(".toml")


@cache
def own_rules() -> Mapping[str, Requirement]:
    tables = tomllib.loads(HOME.read_text("utf-8"))
    return {
        name: Requirement(
            id=name,
            area="fuzz",
            statement=table["statement"],
            levels=dict.fromkeys(BY_DATE, Level(table["level"])),
            page=table["page"],
        )
        for name, table in tables.items()
    }
