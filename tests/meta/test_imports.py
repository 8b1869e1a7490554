"""Every module imports alone in a fresh interpreter, warnings being errors, and `assay` stays light.

To try each of them would take a minute. What nobody imports is tried, and all else comes with it; as no
import goes in a circle, a module is loaded in the same way whoever asks for it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.meta.imports import imports, needs
from tests.meta.tree import Module, expect_none, package_modules

pytestmark = pytest.mark.long
# Costly or optional: loaded by whoever needs them, when they do.
HEAVY = ("argparse", "httpx2", "jsonschema_rs", "pydantic", "rich", "uvicorn", "websockets")
# The lab's topics are many and alike, and found by a scan: they are imported together, not one by one.
TOPICS = re.compile(r"assay\.lab\.(suite|everything|marketplace|client)\.")
RARELY_NEEDED = ("hashlib", "hmac", "secrets", "urllib.parse")
WHAT_IS_LOADED = "import sys; print(*sorted(set(sys.argv[1:]) & sys.modules.keys()))"


def fresh(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


# One interpreter that has loaded other people's libraries, and a child of it for each module.
IMPORT_EACH = """
import asyncio, os, re, sys, traceback
import msgspec

def imported(name):
    out, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(told, 1), os.dup2(told, 2)
        try:
            exec(f"import {name}", {})
            status = 0
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)
    os.close(told)
    with open(out, errors="replace") as words:
        said = words.read().strip()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return (said or f"exit {status}").splitlines()[-1] if said or status else None

for name in sys.argv[1:]:
    failure = imported(name)
    if failure is not None:
        print(f"{name}: {failure}", flush=True)
"""


def import_failures(names: Sequence[str]) -> list[str]:
    at_once = os.cpu_count() or 2
    with ThreadPoolExecutor(at_once) as pool:
        outcomes = list(
            pool.map(lambda some: fresh(IMPORT_EACH, *some), (names[n::at_once] for n in range(at_once)))
        )
    assert all(outcome.returncode == 0 and not outcome.stderr for outcome in outcomes), outcomes
    return [line for outcome in outcomes for line in outcome.stdout.splitlines()]


def loaded_by(code: str, names: Sequence[str]) -> list[str]:
    outcome = fresh(f"{code}\n{WHAT_IS_LOADED}", *names)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.split()


def graph_of(modules: Iterable[Module]) -> dict[str, set[str]]:
    """Each module, and what is loaded before it."""
    found = {module.name: module for module in modules}
    return {name: needs(module, found.keys()) for name, module in found.items()}


def circles(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" is needed by ".join(error.args[1])]
    return []


def test_no_import_goes_in_a_circle() -> None:
    expect_none(circles(graph_of(package_modules())))


def test_the_types_of_the_server_do_not_go_in_a_circle_either() -> None:
    found = {
        module.name: module
        for module in package_modules()
        if f"{module.package}.".startswith("assay.server.")
    }
    graph = {
        name: {item.target for item in imports(module, found.keys())} & found.keys() - {name}
        for name, module in found.items()
    }
    assert "assay.server.calls.call" in graph["assay.server.calls.context"]
    expect_none(circles(graph))


@pytest.mark.timeout(120)
def test_every_module_imports_alone_without_a_warning_or_a_word() -> None:
    graph = graph_of(module for module in package_modules() if not module.name.endswith("__main__"))
    packages = {name.rpartition(".")[0] for name in graph}
    needed = packages.union(*graph.values())
    tops = [name for name in graph if name not in needed and not TOPICS.match(name)]
    assert "assay.cli.serve" in graph and len(tops) > 20
    expect_none(import_failures([", ".join(graph), *tops]))


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import assay", HEAVY) == []


def test_a_server_of_tools_starts_without_what_only_others_need() -> None:
    made = "from assay import Server\nserver = Server('plain')\nimport assay.transport.stdio"
    assert loaded_by(made, RARELY_NEEDED) == []


@pytest.mark.parametrize(
    "statement",
    ["json, no_such_module_anywhere", "warnings; warnings.warn('old')", "sys; print('hello')"],
    ids=["broken", "warns", "prints"],
)
def test_the_import_gate_refuses(statement: str) -> None:
    assert import_failures(["json", statement]) != []
    assert import_failures(["json"]) == []


def test_the_weight_gate_sees_what_is_loaded() -> None:
    assert loaded_by("import argparse", HEAVY) == ["argparse"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from .second import a", "from .first import b"),
        ("from . import second", "import assay.first"),
        (
            "try:\n    from .second import a\nexcept ImportError:\n    pass",
            "class C:\n    from . import first",
        ),
        ("def __getattr__(name):\n    from .second import a", "from .first import b"),
    ],
)
def test_the_circle_gate_refuses(first: str, second: str) -> None:
    assert circles(graph_of([Module("assay.first", first), Module("assay.second", second)])) != []


@pytest.mark.parametrize(
    "first",
    ["def f():\n    from .second import a", "if TYPE_CHECKING:\n    from .second import a", "import second"],
)
def test_the_circle_gate_accepts_what_is_not_loaded_at_once(first: str) -> None:
    modules = [Module("assay.first", first), Module("assay.second", "from .first import b")]
    assert circles(graph_of(modules)) == []
