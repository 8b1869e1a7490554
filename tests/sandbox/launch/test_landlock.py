"""What landlock is asked for, by version of its interface."""

import struct

import pytest

from assay.sandbox.launch import landlock
from assay.sandbox.launch.landlock import Rules


@pytest.mark.parametrize(
    ("abi", "fields"),
    [
        (1, (0x1FFF,)),
        (2, (0x3FFF,)),
        (3, (0x7FFF,)),
        (4, (0x7FFF, 0b11)),
        (5, (0xFFFF, 0b11)),
        (6, (0xFFFF, 0b11, 0b11)),
        (7, (0xFFFF, 0b11, 0b11)),
    ],
)
def test_every_right_of_a_version_is_taken_away_and_none_that_it_does_not_know(
    abi: int, fields: tuple[int, ...]
) -> None:
    assert struct.unpack(f"{len(fields)}Q", landlock.attributes(abi)) == fields


def test_paths_are_read_or_also_written() -> None:
    rules = Rules(("/usr",), ("/scratch",))

    assert list(landlock.path_rules(rules, 0xFFFF)) == [("/usr", landlock.READ), ("/scratch", 0xFFFF)]
    assert not landlock.READ & (landlock.WRITE_FILE | landlock.TRUNCATE)
