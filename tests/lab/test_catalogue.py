"""Stored runs, baselines and certificates refer to the ids of the catalogue: none may change unnoticed."""

from __future__ import annotations

from scripts import catalogue


def test_every_part_of_every_suite_is_as_the_checked_in_catalogue_says() -> None:
    frozen = set(catalogue.FILE.read_text("utf-8").splitlines())
    loaded = set(catalogue.lines())

    # After an intended change: python -m scripts.catalogue
    assert sorted(frozen - loaded) == []
    assert sorted(loaded - frozen) == []


def test_no_part_is_in_the_checked_in_catalogue_twice() -> None:
    frozen = catalogue.FILE.read_text("utf-8").splitlines()

    assert len(frozen) == len({tuple(line.split()[:3]) for line in frozen})
