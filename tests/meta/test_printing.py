"""Text of others reaches a terminal or a log in one way only, which shows what would act."""

import ast
from collections.abc import Iterator

import pytest

from tests.meta.tree import Module, expect_none, package_modules

EDGE = "assay.cli.output.stream"
DISPLAYS = frozenset({EDGE, "assay.cli.output.fuzz", "assay.cli.output.progress", "assay.cli.output.rounds"})
"""Displays that move the cursor themselves; `tests/cli/test_hostile_output.py` tries each."""
FILTER = "visible_record"


def printing_breaches(module: Module) -> Iterator[str]:
    if not module.name.startswith("assay.cli") or module.name in DISPLAYS:
        return
    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Name(id="print")):
                yield module.at(node, f"print: use {EDGE}")
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr"), attr="write"
            ):
                yield module.at(node, f"write: use {EDGE}")
            case ast.Attribute(value=ast.Name(id="traceback"), attr=name) if name.startswith("print_"):
                yield module.at(node, f"{name}: use {EDGE}")


def logging_breaches(module: Module) -> Iterator[str]:
    """A logger is assigned to a name, and that name gets the filter."""
    if "getLogger" not in module.text:  # to parse every module takes seconds
        return
    filtered = {
        node.func.value.id
        for node in module.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr == "addFilter"
        and any(isinstance(argument, ast.Name) and argument.id == FILTER for argument in node.args)
    }
    for node in module.nodes:
        target = getattr(node, "target", None) or next(iter(getattr(node, "targets", ())), None)
        match getattr(node, "value", None):
            case ast.Call(func=ast.Attribute(value=ast.Name(id="logging"), attr="getLogger")):
                if isinstance(target, ast.Name) and target.id not in filtered:
                    yield module.at(node, f"{target.id}: add the filter {FILTER}")


def test_commands_print_in_one_way() -> None:
    expect_none(c for module in package_modules() for c in printing_breaches(module))


def test_every_logger_has_the_filter() -> None:
    expect_none(c for module in package_modules() for c in logging_breaches(module))


@pytest.mark.parametrize(
    "text",
    ["print('x')", "import sys\nsys.stdout.write('x')", "import traceback\ntraceback.print_exception(error)"],
)
def test_the_printing_gate_refuses(text: str) -> None:
    assert len(list(printing_breaches(Module("assay.cli.sample", text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import logging\nlog = logging.getLogger('assay')",
        "import logging\nlog: Final = logging.getLogger('assay')\nlog.addFilter(other)",
    ],
)
def test_the_logging_gate_refuses(text: str) -> None:
    assert len(list(logging_breaches(Module("assay.sample", text)))) == 1


def test_the_logging_gate_accepts() -> None:
    text = "import logging\nlog = logging.getLogger('assay')\nlog.addFilter(visible_record)"
    assert list(logging_breaches(Module("assay.sample", text))) == []
