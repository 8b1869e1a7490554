"""The source tree as the gates see it: modules with a dotted name, read once, parsed and never imported.

A gate is a function of a `Module` (or of a text) that yields complaints, so that it can be tried on a sample.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "assay"
TESTS = ROOT / "tests"
SCRIPTS = tuple(ROOT / name for name in ("interop", "scripts", "examples"))


@dataclass(frozen=True)
class Module:
    """A Python file; `package` is the dotted name of its directory."""

    name: str
    text: str
    is_package: bool = False
    place: str = "sample.py"

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.place)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    def at(self, node: ast.AST, complaint: str) -> str:
        return f"{self.place}:{getattr(node, 'lineno', 1)}: {complaint}"


def read(path: Path, top: Path) -> Module:
    """Read a file as the module that it is when `top` is on the import path."""
    parts = path.relative_to(top).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return Module(name, path.read_text("utf-8"), is_package, str(path.relative_to(ROOT)))


def read_all(top: Path, *directories: Path) -> tuple[Module, ...]:
    paths = (path for directory in directories for path in directory.rglob("*.py"))
    return tuple(read(path, top) for path in sorted(paths) if "node_modules" not in path.parts)


@cache
def package_modules() -> tuple[Module, ...]:
    """Every module of the package. An empty tree would make every gate green: it is an error."""
    modules = read_all(PACKAGE.parent, PACKAGE)
    assert modules, f"no module under {PACKAGE}"
    return modules


@cache
def modules_of_tests() -> tuple[Module, ...]:
    return read_all(ROOT, TESTS)


@cache
def script_modules() -> tuple[Module, ...]:
    return read_all(ROOT, *SCRIPTS)


def expect_none(complaints: Iterable[str]) -> None:
    """Fail with every complaint, one a line; an `assert` would cut the list short."""
    if found := list(complaints):
        pytest.fail("\n".join(found), pytrace=False)
