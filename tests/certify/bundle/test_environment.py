"""The packages of another interpreter."""

from pathlib import Path

import pytest

from assay.certify.bundle.environment import BadEnvironment, dependencies, inspect
from tests.certify.environments import MARKERS, environment, installed, virtual


def test_another_environment_is_queried_with_its_own_interpreter(tmp_path: Path) -> None:
    python = virtual(tmp_path, {"Some.Package": "1.0", "other": "2.0"})
    # A package may print at start-up.
    next(tmp_path.rglob("site-packages")).joinpath("greeting.pth").write_text("import sys; print('hello')\n")
    environment = inspect(python)
    assert [(package.key, package.version) for package in environment.distributions] == [
        ("other", "2.0"),
        ("some-package", "1.0"),
    ]
    assert environment.markers.keys() == MARKERS.keys()


def test_a_package_without_a_version(tmp_path: Path) -> None:
    python = virtual(tmp_path, {"nameless": ""})
    with pytest.raises(BadEnvironment, match=r"without a name or a version in .*site-packages: nameless"):
        inspect(python)


def test_a_program_that_is_not_python(tmp_path: Path) -> None:
    with pytest.raises(BadEnvironment, match=r"cannot start .*No such file"):
        inspect(tmp_path / "python")
    with pytest.raises(BadEnvironment, match="does not report its packages"):
        inspect(Path("/bin/true"))
    with pytest.raises(BadEnvironment, match="exit code 1"):
        inspect(Path("/bin/false"))


def test_dependencies_are_those_that_are_installed() -> None:
    packages = environment(
        installed("a", "b>=1", "gone", 'c; sys_platform == "win32"'), installed("b"), installed("c")
    )
    assert dependencies(packages) == {"a": ("b",), "b": (), "c": ()}


def test_an_extra_counts_if_a_package_requires_it() -> None:
    of_extra = ('d; extra == "x"', 'b[x]; extra == "all"')
    assert dependencies(environment(installed("b", *of_extra), installed("d")))["b"] == ()
    requiring = environment(installed("a", "b[all]"), installed("b", *of_extra), installed("d"))
    assert dependencies(requiring) == {"a": ("b",), "b": ("d",), "d": ()}


def test_an_invalid_requirement() -> None:
    with pytest.raises(BadEnvironment, match="a in /site has an invalid requirement"):
        dependencies(environment(installed("a", "b === ?? [")))
