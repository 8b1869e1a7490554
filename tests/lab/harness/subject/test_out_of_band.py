"""What can be seen beside the messages is known by name."""

from pathlib import Path

from assay.lab.harness.subject.disk import Directories
from assay.lab.harness.subject.out_of_band import DISK, REGISTRY, OutOfBand


def test_nothing_is_there_unless_it_is_given() -> None:
    assert OutOfBand().kinds == []


def test_what_is_given_is_named(tmp_path: Path) -> None:
    assert OutOfBand(disk=Directories([tmp_path]), registry={}).kinds == [DISK, REGISTRY]
