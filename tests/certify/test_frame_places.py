"""Frames of a finding, told in short."""

from assay.certify.frame_places import places


def test_frames_that_follow_each_other_are_told_as_one() -> None:
    assert places(["a#1", "a#2", "a#3", "a#7", "b#5"]) == "a#1-3, 7; b#5"


def test_no_frames_are_nothing() -> None:
    assert places([]) == ""


def test_a_frame_that_comes_twice_is_told_once_and_in_order() -> None:
    assert places(["a#4", "a#3", "a#4"]) == "a#3-4"


def test_what_is_no_frame_is_left_as_it_is() -> None:
    assert places(["a#1", "b"]) == "a#1, b"
