"""The security policy names tests that exist, and every attack has one."""

import ast
import re

from tests.meta.tree import ROOT, expect_none

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_named_tests_exist() -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 30
    expect_none(path for path, _ in named if not (ROOT / path).is_file())
    expect_none(f"{path}::{name}" for path, name in named if name and name not in functions(path))


def test_every_attack_names_a_test() -> None:
    table = PAGE.partition("## Attacks")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| attack")]
    assert rows
    expect_none(row for row in rows if not NAMED.search(row))
