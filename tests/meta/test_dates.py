"""A revision is a value: its date is spelled in `revisions/` and nowhere else in the package."""

import re
from collections.abc import Iterator

import pytest

from tests.meta.tree import Module, expect_none, package_modules

DATES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
# Module names and constants write the same date with other separators, or none.
SPELLED = re.compile("|".join(date.replace("-", "[-_./]?") for date in DATES))
HOME = "assay.revisions"


def date_breaches(module: Module) -> Iterator[str]:
    if module.name == HOME or module.name.startswith(f"{HOME}."):
        return
    for number, line in enumerate(module.text.splitlines(), 1):
        for match in SPELLED.finditer(line):
            yield f"{module.place}:{number}: {match[0]} belongs in revisions/: name the feature instead"


def test_no_revision_date_is_spelled_outside_revisions() -> None:
    expect_none(c for module in package_modules() for c in date_breaches(module))


@pytest.mark.parametrize("date", DATES)
@pytest.mark.parametrize("separator", ["-", "_", ""])
def test_the_date_gate_refuses(date: str, separator: str) -> None:
    text = f"# since\nif version >= 'r{date.replace('-', separator)}': ...\n"
    assert list(date_breaches(Module("assay.server.components.tool", text)))
    assert list(date_breaches(Module("assay.revisions.registry", text))) == []
