"""Public means listed in `__all__` of assay or one of its libraries, and documented in docs/api.md."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from types import ModuleType

import pytest

import assay.certify
import assay.lab
import assay.middleware
import assay.sandbox
import assay.store
from tests.meta.tree import PACKAGE, ROOT, expect_none

HEADING = re.compile(r"^### `([A-Za-z_]\w*)[^`]*`\s*$", re.MULTILINE)


def documented(page: str) -> list[str]:
    return HEADING.findall(page)


def export_breaches(exported: Iterable[str], page: str) -> Iterator[str]:
    exports, headings = Counter(exported), Counter(documented(page))
    yield from (f"{name}: exported, not documented" for name in sorted(exports.keys() - headings.keys()))
    yield from (f"{name}: documented, not exported" for name in sorted(headings.keys() - exports.keys()))
    yield from (f"{name}: listed twice" for name, n in sorted((exports | headings).items()) if n > 1)


def test_the_public_names_are_the_documented_ones() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    expect_none(export_breaches(assay.__all__, page))


@pytest.mark.parametrize(
    ("package", "section"),
    [
        (assay.lab, "Judge from code"),
        (assay.certify, "Certify from code"),
        (assay.middleware, "Middleware"),
        (assay.sandbox, "Sandbox"),
        (assay.store, "Stores"),
    ],
)
def test_the_names_of_the_libraries_are_documented(package: ModuleType, section: str) -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    expect_none(name for name in package.__all__ if not re.search(rf"`{name}\b", text))


def test_every_public_name_can_be_imported() -> None:
    expect_none(name for name in assay.__all__ if not hasattr(assay, name))
    assert set(assay.__all__) <= set(dir(assay))


def test_type_checkers_see_the_same_names() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    declared = {
        alias.asname: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname
    }
    assert declared == {name: getattr(assay, name).__module__ for name in assay.__all__}


def test_the_export_gate_tells_what_is_missing_where() -> None:
    page = "# API\n### `Server`\ntext\n### `Context(scope)`\n### Not a name\n### `Server`\n"
    assert list(export_breaches(["Server", "Reply"], page)) == [
        "Reply: exported, not documented",
        "Context: documented, not exported",
        "Server: listed twice",
    ]
    assert list(export_breaches(["Context", "Server"], "### `Context`\n### `Server`\n")) == []
