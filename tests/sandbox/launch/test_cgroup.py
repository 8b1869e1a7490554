"""Where limits for all processes together can be set: version 2, else version 1, else nowhere."""

from pathlib import Path

import pytest

from assay.sandbox.launch import cgroup
from assay.sandbox.launch.plan import Limits


def mount(kind: str, point: Path, options: str = "rw", root: str = "/") -> str:
    return f"31 23 0:27 {root} {point} rw,relatime shared:9 - {kind} {kind} {options}\n"


def unified(base: Path, *, handed_down: str, at: str = "user.slice") -> tuple[str, str]:
    """A hierarchy of version 2 whose group `at` hands controllers down."""
    (base / "user.slice/session.scope").mkdir(parents=True)
    for directory in (base, base / "user.slice", base / "user.slice/session.scope"):
        (directory / "cgroup.subtree_control").write_text("")
    (base / at / "cgroup.subtree_control").write_text(handed_down)
    return mount("cgroup2", base), "0::/user.slice/session.scope\n"


def test_the_nearest_parent_that_hands_controllers_down_is_used(tmp_path: Path) -> None:
    place = cgroup.find_place(*unified(tmp_path, handed_down="cpu memory pids"))

    assert place is not None
    assert (place.version, set(place.parents.values())) == (2, {tmp_path / "user.slice"})
    assert place.text == "v2 cpu memory pids"


def test_controllers_are_not_switched_on_for_others(tmp_path: Path) -> None:
    texts = unified(tmp_path, handed_down="hugetlb")

    assert cgroup.find_place(*texts) is None
    assert (tmp_path / "user.slice/cgroup.subtree_control").read_text() == "hugetlb"


def separate(base: Path, names: tuple[str, ...]) -> tuple[str, str]:
    """Hierarchies of version 1, in which this process is in the group `/job`."""
    for name in names:
        (base / name / "job").mkdir(parents=True)
    mounts = "".join(mount("cgroup", base / name, f"rw,{name}") for name in names)
    return mounts, "".join(f"{number}:{name}:/job\n" for number, name in enumerate(names, 1)) + "0::/\n"


def test_version_1_is_used_where_version_2_limits_nothing(tmp_path: Path) -> None:
    mounts, groups = separate(tmp_path, ("memory", "pids", "cpu", "freezer"))
    (tmp_path / "unified").mkdir()

    place = cgroup.find_place(mounts + mount("cgroup2", tmp_path / "unified"), groups)

    assert place is not None
    expected = {name: tmp_path / name / "job" for name in ("cpu", "memory", "pids")}
    assert (place.version, place.parents) == (1, expected)


@pytest.mark.parametrize("names", [("memory",), ("pids", "cpu"), ()])
def test_memory_and_processes_are_both_needed(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert cgroup.find_place(*separate(tmp_path, names)) is None


def test_in_a_container_the_path_is_relative_to_what_is_mounted(tmp_path: Path) -> None:
    for name in ("memory", "pids"):
        (tmp_path / name / "inner").mkdir(parents=True)
    mounts = "".join(
        mount("cgroup", tmp_path / name, f"rw,{name}", "/docker/1") for name in ("memory", "pids")
    )
    groups = "1:memory:/docker/1/inner\n2:pids:/docker/1/inner\n"

    place = cgroup.find_place(mounts, groups)

    assert place is not None and place.parents["memory"] == tmp_path / "memory/inner"


LIMITS = Limits(memory=1000, processes=7, cores=0.5)


def test_limits_are_written_in_the_words_of_each_version() -> None:
    second = {(file, value) for _, file, value, is_needed in cgroup.settings(2, LIMITS) if is_needed}
    first = {(file, value) for _, file, value, is_needed in cgroup.settings(1, LIMITS) if is_needed}

    assert second == {("memory.max", "1000"), ("pids.max", "7")}
    assert first == {("memory.limit_in_bytes", "1000"), ("pids.max", "7")}
    assert ("cpu", "cpu.max", "50000 100000", False) in cgroup.settings(2, LIMITS)


def test_groups_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    (tmp_path / "assay-999999999").mkdir()
    (tmp_path / "assay-1").mkdir()
    (tmp_path / "other").mkdir()

    cgroup.remove_abandoned(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["assay-1", "other"]
