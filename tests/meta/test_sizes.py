"""Caps on files, functions and parameters. They hold for everybody: there is no list of exceptions."""

import ast
from collections.abc import Iterator

import pytest

from tests.meta.tree import Module, expect_none, modules_of_tests, package_modules, script_modules

SOURCE_LINES = 400
TOPIC_LINES = 600
"""A topic of the lab is one page: scenario, checks and saboteurs together."""
TOPICS = tuple(f"assay.lab.{suite}." for suite in ("suite", "everything", "marketplace", "client"))
TEST_LINES = 600
FUNCTION_LINES = 45
PARAMETERS = 7


def file_breaches(module: Module, cap: int) -> Iterator[str]:
    if module.lines > cap:
        yield f"{module.place}:1: {module.lines} lines, at most {cap}"


def function_breaches(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield module.at(node, f"{node.name} has {lines} lines, at most {FUNCTION_LINES}")
            if (count := parameters(node.args)) > PARAMETERS:
                yield module.at(node, f"{node.name} has {count} parameters, at most {PARAMETERS}")


def parameters(arguments: ast.arguments) -> int:
    """Count what a caller must keep in order: neither keyword-only parameters nor the receiver."""
    positional = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    receiver = positional[:1] in (["self"], ["cls"])
    return len(positional) - receiver + (arguments.vararg is not None) + (arguments.kwarg is not None)


def cap(module: Module) -> int:
    return TOPIC_LINES if module.name.startswith(TOPICS) else SOURCE_LINES


def test_source_files_are_short() -> None:
    modules = package_modules() + script_modules()
    expect_none(c for module in modules for c in file_breaches(module, cap(module)))


def test_only_topics_of_the_lab_may_be_longer() -> None:
    assert cap(Module("assay.lab.suite.tools.arguments", "")) == TOPIC_LINES
    assert cap(Module("assay.lab.harness.check", "")) == SOURCE_LINES


def test_test_files_are_short() -> None:
    expect_none(c for module in modules_of_tests() for c in file_breaches(module, TEST_LINES))


def test_functions_are_short_and_take_few_parameters() -> None:
    modules = package_modules() + script_modules() + modules_of_tests()
    expect_none(c for module in modules for c in function_breaches(module))


@pytest.mark.parametrize(("lines", "complaints"), [(SOURCE_LINES, 0), (SOURCE_LINES + 1, 1)])
def test_the_file_gate_counts_lines(lines: int, complaints: int) -> None:
    for text in ("pass\n" * lines, ("pass\n" * lines).rstrip("\n")):
        assert len(list(file_breaches(Module("sample", text), SOURCE_LINES))) == complaints


@pytest.mark.parametrize(("lines", "complaints"), [(FUNCTION_LINES, 0), (FUNCTION_LINES + 1, 1)])
@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_the_function_gate_counts_lines(keyword: str, lines: int, complaints: int) -> None:
    text = f"@decorator\n{keyword} f():\n" + "    pass\n" * (lines - 1)
    assert len(list(function_breaches(Module("sample", text)))) == complaints


@pytest.mark.parametrize(
    ("signature", "complaints"),
    [
        ("a, b, c, d, e, f, g", 0),
        ("self, a, b, c, d, e, f, g", 0),
        ("a, b, c, d, e, f, *, g, h, i", 0),
        ("a, b, c, d, e, f, g, h", 1),
        ("a, b, /, c, d, e, f, *g, **h", 1),
    ],
)
def test_the_function_gate_counts_parameters(signature: str, complaints: int) -> None:
    assert len(list(function_breaches(Module("sample", f"def f({signature}): ...")))) == complaints
