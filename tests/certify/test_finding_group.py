"""Findings with the same text are shown once, with short references to their frames."""

from assay.certify.finding_group import frame_ranges, group_findings
from assay.certify.scoring import DemandFinding


def finding(transport: str, date: str, observed: str, *frames: str) -> DemandFinding:
    return DemandFinding("cap.prompts", transport, date, "MUST", "a version", observed, list(frames))


def test_findings_with_the_same_text_form_one_group() -> None:
    groups = group_findings(
        [
            finding("stdio", "one", "none", "a#1", "a#2"),
            finding("stdio", "two", "none", "b#4"),
            finding("stdio", "two", "none", "b#6"),
            finding("http", "two", "2", "c#1"),
            finding("http", "two", "none", "c#3"),
        ]
    )
    assert [group.where for group in groups] == ["stdio one, two; http two", "http two"]
    assert [group.traces for group in groups] == [["a#1-2", "b#4, 6", "c#3"], ["c#1"]]


def test_consecutive_frames_become_a_range() -> None:
    assert frame_ranges(["a#1", "a#2", "a#3", "a#7", "b#5"]) == "a#1-3, 7; b#5"


def test_no_frames_give_an_empty_string() -> None:
    assert frame_ranges([]) == ""


def test_frames_are_sorted_and_unique() -> None:
    assert frame_ranges(["a#4", "a#3", "a#4"]) == "a#3-4"


def test_an_invalid_frame_is_left_unchanged() -> None:
    assert frame_ranges(["a#1", "b"]) == "a#1, b"
