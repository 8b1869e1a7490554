"""The layer table of docs/architecture.md, and how imports are written."""

from collections.abc import Iterator, Set
from functools import cache

import pytest

from tests.meta.imports import imports
from tests.meta.tree import Module, expect_none, package_modules

ROOT = "assay"
PROTOCOL_CORE = frozenset({"model", "revisions", "extensions", "protocol"})
ENDS = PROTOCOL_CORE | {"transport", "store"}
LAYERS_0_TO_4 = ENDS | {
    "hosts",
    "sandbox",
    "signing",
    "authority",
    "server",
    "client",
    "auth",
    "profile",
    "telemetry",
}
EVERYTHING = LAYERS_0_TO_4 | {"middleware", "bundled", "lab", "certify", "cli", "testing", ROOT}

# What every way to judge stands on; the rest of the lab's top modules stand on its suites.
LAB_LIBRARY = frozenset(
    f"lab.{name}"
    for name in (
        "access",
        "error",
        "extra",
        "live_run",
        "options",
        "selection",
        "server_run",
        "subjects",
        "target",
    )
)

# Package → what it may import besides itself. A name covers what is below it; `assay` is the public face.
MAY_IMPORT: dict[str, Set[str]] = {
    "model": frozenset(),
    "revisions": {"model"},
    "extensions": {"model", "revisions"},
    "protocol": {"model", "revisions", "extensions"},
    "transport": {
        "model",
        "revisions",
        "protocol.byte_budget",
        "protocol.cancellation",
        "protocol.codec",
        "protocol.framing",
        "protocol.http",
        "protocol.coroutine",
        "protocol.principal",
        "protocol.scope",
        "protocol.time_share",
        "store.port",
    },
    "store": {"model"},
    "hosts": {"model"},
    "sandbox": {"model"},
    "signing": frozenset(),
    "authority": {"model"},
    "server": ENDS,
    "client": ENDS,
    "auth": PROTOCOL_CORE,
    "profile": PROTOCOL_CORE | {"signing"},
    "telemetry": PROTOCOL_CORE,
    "middleware": PROTOCOL_CORE | {"server"},
    "bundled": {ROOT, "server", "client", "auth"},
    "lab": {"lab", "model", "revisions", "transport.target"},
    "lab.harness": {"model", "revisions", "protocol.codec", "protocol.framing", "transport", "authority"},
    "lab.suite": {"lab.harness", "model", "revisions"},
    "lab.everything": {"lab.harness", "lab.suite", "model", "revisions"},
    "lab.client": {
        "lab.harness",
        "lab.suite",
        "lab.everything",
        "authority",
        "model",
        "revisions",
        "protocol.framing",
    },
    "lab.fuzz": {*LAB_LIBRARY, "lab.harness", "lab.suites", "model", "revisions", "protocol.framing"},
    "lab.matrix": {
        "lab.error",
        "lab.extra",
        "lab.harness",
        "lab.live",
        "lab.report",
        "lab.suites",
        "model",
        "revisions",
    },
    "lab.load": {
        *LAB_LIBRARY,
        "lab.argument_file",
        "lab.harness",
        "lab.live",
        "lab.report",
        "model",
        "revisions",
        "protocol.framing",
    },
    "lab.export": {"lab.error", "lab.harness", "model", "protocol.framing"},
    "lab.surface": {"lab.harness", "lab.report", "model"},
    "lab.tap": {"lab.error", "lab.harness", "lab.suites", "model", "revisions", "protocol.framing"},
    "lab.marketplace": {"lab.harness", "lab.suite", "model", "revisions"},
    "lab.report": {"lab.error", "lab.harness", "lab.suites", "model", "revisions"},
    "certify": {"lab", "sandbox", "signing", "model", "revisions"},
    "testing": {ROOT, "lab", "client", "model", "revisions"},
    "cli": EVERYTHING,
    "__main__": {"cli"},
    "": LAYERS_0_TO_4,
}

# The core takes values and returns values: its callers own sockets, tasks, clock, randomness and logging.
BANNED_FROM_CORE = frozenset(
    {
        *("asyncio", "multiprocessing", "queue", "subprocess", "threading"),
        *("select", "selectors", "signal", "socket", "ssl"),
        *("logging", "os", "random", "secrets", "time", "uuid"),
    }
)


def layer_of(name: str) -> str | None:
    """Find the row of a module, the longest match winning; None for a module that the table does not know."""
    inside = name.removeprefix(ROOT).lstrip(".")
    rows = (row for row in MAY_IMPORT if row and _covers(row, inside))
    return max(rows, key=len, default="" if not inside else None)


def _covers(row: str, inside: str) -> bool:
    return inside == row or inside.startswith(f"{row}.")


def layer_breaches(module: Module, known: Set[str] = frozenset()) -> Iterator[str]:
    layer = layer_of(module.name)
    if layer is None:
        yield f"{module.place}:1: {module.name} is in no row of the layer table"
        return
    for item in imports(module, known):
        top, _, inside = item.target.partition(".")
        if top != ROOT:
            continue
        if not any(_covers(row, inside or ROOT) for row in {*MAY_IMPORT[layer], layer} if row):
            yield module.at(item.node, f"{layer or ROOT} may not import {item.target}")


def argparse_breaches(module: Module) -> Iterator[str]:
    """Commands parse, call, print: below them, options are values."""
    if layer_of(module.name) == "cli":
        return
    for item in imports(module, frozenset()):
        if item.target.partition(".")[0] == "argparse":
            yield module.at(item.node, "only commands parse options: take typed values instead of argparse")


def core_breaches(module: Module) -> Iterator[str]:
    layer = layer_of(module.name)
    if layer not in PROTOCOL_CORE:
        return
    for item in imports(module, frozenset()):
        top = item.target.partition(".")[0]
        if top in BANNED_FROM_CORE:
            yield module.at(item.node, f"{layer} holds values only: no {top}")


def spelling_breaches(module: Module, known: Set[str] = frozenset()) -> Iterator[str]:
    """Sibling modules are imported relatively, all else absolutely; a sibling package may be either."""
    siblings = modules_by_package(frozenset(known)).get(module.package, set())
    for item in imports(module, known):
        if item.level > 1 or (item.level == 1 and "." in item.written):
            yield module.at(item.node, f"write an absolute import of {item.target}")
        elif item.level == 0 and item.target in {module.package, *siblings}:
            yield module.at(item.node, f"write a relative import of {item.target}")


@cache
def modules_by_package(known: frozenset[str]) -> dict[str, set[str]]:
    packages = {name.rpartition(".")[0] for name in known}
    found: dict[str, set[str]] = {}
    for name in known - packages:
        found.setdefault(name.rpartition(".")[0], set()).add(name)
    return found


def known_modules() -> frozenset[str]:
    return frozenset(module.name for module in package_modules())


def test_every_import_follows_the_layer_table() -> None:
    known = known_modules()
    expect_none(c for module in package_modules() for c in layer_breaches(module, known))


def test_the_core_imports_nothing_that_acts_on_the_world() -> None:
    expect_none(c for module in package_modules() for c in core_breaches(module))


def test_only_commands_know_argparse() -> None:
    expect_none(c for module in package_modules() for c in argparse_breaches(module))


def test_siblings_are_imported_relatively_and_the_rest_absolutely() -> None:
    known = known_modules()
    expect_none(c for module in package_modules() for c in spelling_breaches(module, known))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("assay.model.error", "from assay.revisions import registry"),
        ("assay.protocol.codec", "import assay.transport.stdio"),
        ("assay.server.components.tool", "from assay.client import Client"),
        ("assay.client.client", "def f():\n    from assay.server.components.tool import Tool"),
        ("assay.transport.stdio", "from assay.protocol.session import Session"),
        ("assay.transport.stdio", "from assay.protocol import session"),
        ("assay.lab.harness.run.runner", "from assay import Server"),
        ("assay.lab.suite.checks.ping", "from assay.lab.report import html"),
        ("assay.store.sqlite", "from assay import server"),
        ("assay.novelty.thing", "import json"),
    ],
)
def test_the_layer_gate_refuses(name: str, line: str) -> None:
    known = frozenset({"assay.protocol.session", "assay.server"})
    assert list(layer_breaches(Module(name, line), known))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("assay.model.error", "import msgspec\nfrom .jsonrpc import Id"),
        ("assay.transport.stdio", "from assay.protocol.framing.lines import LineReader"),
        ("assay.transport.stdio", "from assay.protocol import framing"),
        ("assay.server.components.tool", "from assay.store.port import SessionStore"),
        ("assay.bundled.everything", "from assay import Context, Server"),
        ("assay.cli.serve", "from assay.bundled import everything"),
        ("assay.lab.suite.checks.ping", "from assay.lab.harness.check import check"),
        ("assay", "from assay.server import Server"),
    ],
)
def test_the_layer_gate_accepts(name: str, line: str) -> None:
    module = Module(name, line, is_package=name == ROOT)
    assert (
        list(layer_breaches(module, frozenset({"assay.protocol.framing", "assay.bundled.everything"}))) == []
    )


@pytest.mark.parametrize(
    "line",
    ["import asyncio", "from os import urandom", "from time import monotonic", "import logging.handlers"],
)
def test_the_core_gate_refuses(line: str) -> None:
    assert list(core_breaches(Module("assay.protocol.codec", line)))
    assert list(core_breaches(Module("assay.server.components.tool", line))) == []


@pytest.mark.parametrize("line", ["import argparse", "def f():\n    from argparse import Namespace"])
def test_the_argparse_gate_refuses(line: str) -> None:
    assert list(argparse_breaches(Module("assay.lab.server_run", line)))
    assert list(argparse_breaches(Module("assay.cli.check", line))) == []


@pytest.mark.parametrize(
    "line",
    [
        "from ..model import error",
        "from .framing.lines import LineReader",
        "from assay.protocol.codec import decode",
        "from assay.protocol import codec",
        "from assay.protocol import SOME_NAME",
        "import assay.protocol.codec",
    ],
)
def test_the_spelling_gate_refuses(line: str) -> None:
    assert list(
        spelling_breaches(Module("assay.protocol.session", line), frozenset({"assay.protocol.codec"}))
    )


@pytest.mark.parametrize(
    "line", ["from .codec import decode", "from . import codec", "from assay.model.error import McpError"]
)
def test_the_spelling_gate_accepts(line: str) -> None:
    module = Module("assay.protocol.session", line)
    assert list(spelling_breaches(module, frozenset({"assay.protocol.codec"}))) == []
