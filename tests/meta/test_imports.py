"""Every module imports alone in a fresh interpreter, warnings being errors, and `assay` stays light."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.meta.tree import expect_none, package_modules

pytestmark = pytest.mark.long
# Costly or optional: loaded by whoever needs them, when they do.
HEAVY = ("argparse", "httpx2", "jsonschema_rs", "pydantic", "rich", "uvicorn", "websockets")
PARTS = re.compile(r"assay\.lab\.(suite|everything|client)\.(checks|scenarios|saboteurs)\.\w+\.")
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


@pytest.mark.timeout(120)
def test_every_module_imports_alone_without_a_warning_or_a_word() -> None:
    names = [module.name for module in package_modules() if not module.name.endswith("__main__")]
    # The lab's parts are many, small and alike, and nobody imports one: a process each would be wasted.
    parts = [name for name in names if PARTS.match(name)]
    expect_none(import_failures([", ".join(parts), *(name for name in names if name not in parts)]))


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
