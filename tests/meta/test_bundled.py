"""The bundled servers are the examples that users read: they are written with the public API alone."""

import ast
from collections.abc import Iterator, Set

import pytest

import assay
from tests.meta.tree import Module, expect_none, package_modules

HOME = "assay.bundled"
EXAMPLE = "assay.bundled.everything"
PART = "assay.bundled.reference.tools"


def privacy_breaches(module: Module, public: Set[str]) -> Iterator[str]:
    """A server that is a package may import its own parts."""
    for node in module.nodes:
        match node:
            case ast.Import(names=names):
                inner = [alias.name for alias in names if alias.name.partition(".")[0] == "assay"]
                yield from (
                    module.at(node, f"write `from assay import ...`, not `import {i}`") for i in inner
                )
            case ast.ImportFrom(level=0, module="assay", names=names):
                hidden = [alias.name for alias in names if alias.name not in public]
                yield from (module.at(node, f"{name} is not a public name") for name in hidden)
            case ast.ImportFrom(level=1) if module.package != HOME:
                continue
            case ast.ImportFrom(level=level, module=origin) if level or (origin or "").startswith("assay."):
                yield module.at(node, f"write `from assay import ...`, not from {'.' * level}{origin or ''}")
            case ast.Attribute(value=ast.Name(id="self")):
                continue
            case ast.Attribute(attr=name) if name.startswith("_") and not name.endswith("__"):
                yield module.at(node, f"{name} is private")


def test_bundled_servers_use_the_public_api_only() -> None:
    examples = [module for module in package_modules() if module.name.startswith(f"{HOME}.")]
    assert {EXAMPLE, PART} <= {module.name for module in examples}
    expect_none(c for module in examples for c in privacy_breaches(module, set(assay.__all__)))


@pytest.mark.parametrize(
    "line",
    [
        "import assay",
        "import assay.server.components.tool as tool",
        "from assay.server import Server",
        "from assay import Server, Session",
        "from .reference import server",
        "from . import reference",
        "server._tools.clear()",
    ],
)
def test_the_privacy_gate_refuses(line: str) -> None:
    assert list(privacy_breaches(Module(EXAMPLE, line), {"Context", "Server"}))


@pytest.mark.parametrize("line", ["from .files import NOTES", "from . import models"])
def test_the_privacy_gate_lets_a_package_import_its_own_parts(line: str) -> None:
    assert list(privacy_breaches(Module(PART, line), set())) == []
    assert list(privacy_breaches(Module(PART, line.replace("from .", "from ..")), set()))


def test_the_privacy_gate_accepts_public_names() -> None:
    text = "import json\nfrom assay import Context, Server\nserver = Server(__name__)\nserver.__class__\n"
    text += "self._own\n"
    assert list(privacy_breaches(Module(EXAMPLE, text), {"Context", "Server"})) == []
