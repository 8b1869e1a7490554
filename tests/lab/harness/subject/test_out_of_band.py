"""Evidence besides the messages is listed by kind."""

from pathlib import Path

from assay.lab.harness.subject.disk import Directories
from assay.lab.harness.subject.out_of_band import DISK, REGISTRY, OutOfBand


def test_there_are_no_kinds_by_default() -> None:
    assert OutOfBand().kinds == []


def test_available_kinds_are_listed(tmp_path: Path) -> None:
    assert OutOfBand(disk=Directories([tmp_path]), registry={}).kinds == [DISK, REGISTRY]
