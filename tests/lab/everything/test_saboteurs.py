"""Every official id has a saboteur. `make prove` shows that each is caught."""

from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("everything")


def test_every_official_id_has_a_saboteur() -> None:
    broken = {saboteur.breaks for saboteur in SUITE.saboteurs.values()}
    expect_none(f"{row}: no saboteur breaks it" for row in SUITE.requirements if row not in broken)
