"""Findings that say the same are told once."""

from assay.certify.alike import alike
from assay.certify.scoring import Broken


def broken(transport: str, date: str, observed: str, *frames: str) -> Broken:
    return Broken("cap.prompts", transport, date, "MUST", "a version", observed, list(frames))


def test_the_same_words_in_several_places_are_one() -> None:
    found = alike(
        [
            broken("stdio", "one", "none", "a#1", "a#2"),
            broken("stdio", "two", "none", "b#4"),
            broken("stdio", "two", "none", "b#6"),
            broken("http", "two", "2", "c#1"),
            broken("http", "two", "none", "c#3"),
        ]
    )
    assert [one.where for one in found] == ["stdio one, two; http two", "http two"]
    assert [one.traces for one in found] == [["a#1-2", "b#4, 6", "c#3"], ["c#1"]]
