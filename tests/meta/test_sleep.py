"""Tests wait for facts, never for time: a pause is too short on a busy machine, too long on all others."""

import ast
from collections.abc import Iterator

import pytest

from tests.meta.tree import Module, expect_none, modules_of_tests

CLOCKED = frozenset({"asyncio", "time", "anyio", "trio"})


def sleep_breaches(module: Module) -> Iterator[str]:
    """Find calls of `sleep` by any name that the module gives to it or to its home."""
    homes, sleeps = set(), set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            homes |= {alias.asname or alias.name for alias in node.names if alias.name in CLOCKED}
        elif isinstance(node, ast.ImportFrom) and node.module in CLOCKED:
            sleeps |= {alias.asname or alias.name for alias in node.names if alias.name == "sleep"}
    for node in module.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=home), attr="sleep") if home in homes:
                yield module.at(node, f"{home}.sleep: wait for an event instead")
            case ast.Name(id=name, ctx=ast.Load()) if name in sleeps:
                yield module.at(node, f"{name}: wait for an event instead")


def test_no_test_sleeps() -> None:
    expect_none(c for module in modules_of_tests() for c in sleep_breaches(module))


@pytest.mark.parametrize(
    "text",
    [
        "import asyncio\nasync def f():\n    await asyncio.sleep(0.1)",
        "import time as clock\nclock.sleep(1)",
        "from asyncio import sleep as pause\nasync def f():\n    await pause(0)",
        "import time\npause = time.sleep\n",
    ],
)
def test_the_sleep_gate_refuses(text: str) -> None:
    assert len(list(sleep_breaches(Module("tests.sample", text)))) == 1


def test_the_sleep_gate_leaves_other_sleeps_alone() -> None:
    assert (
        list(sleep_breaches(Module("tests.sample", "import clock\nclock.sleep(1)\ntext = 'time.sleep(1)'")))
        == []
    )
