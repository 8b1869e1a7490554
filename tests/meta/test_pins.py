"""Pinned means an exact version and nothing more: where packages come from is each machine's own affair."""

import json
import re
import tomllib
from collections.abc import Iterator, Set

import pytest

from tests.meta.tree import ROOT, expect_none

PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==\d[\w.!+]*")
NAME = re.compile(r"[A-Za-z0-9._-]+")


def pin_breaches(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#") and not PIN.fullmatch(line):
            yield f"{number}: not `name==version`: {line}"


def lock_breaches(text: str) -> Iterator[str]:
    for name, entry in json.loads(text)["packages"].items():
        if "resolved" in entry:
            yield f"{name}: names the address it came from"


def unpinned(requirements: Set[str], text: str) -> set[str]:
    """Find the requirements that no pin covers."""
    pinned = {line.partition("==")[0] for line in text.splitlines()}
    names = {match[0] for requirement in requirements if (match := NAME.match(requirement))}
    return {name.lower().replace("_", "-") for name in names} - pinned


def test_constraints_hold_names_and_versions_only() -> None:
    expect_none(pin_breaches((ROOT / "constraints.txt").read_text("utf-8")))


def test_the_npm_lock_holds_no_address() -> None:
    expect_none(lock_breaches((ROOT / "interop" / "package-lock.json").read_text("utf-8")))


def test_everything_that_make_installs_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = {*project["dependencies"], *extras["dev"], *extras["http"]}
    assert unpinned(asked, (ROOT / "constraints.txt").read_text("utf-8")) == set()


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://packages.example/simple",
        "msgspec>=0.20",
        "msgspec @ https://packages.example/msgspec.whl",
        "msgspec==0.20 --hash=sha256:00",
    ],
)
def test_the_pin_gate_refuses(line: str) -> None:
    assert list(pin_breaches(f"# comment\nmsgspec==0.20.0\n{line}\n"))


def test_the_lock_gate_refuses_an_address() -> None:
    entry = {"version": "1.0.0", "resolved": "https://packages.example/a.tgz"}
    assert list(lock_breaches(json.dumps({"packages": {"": {}, "node_modules/a": entry}})))


def test_the_pin_gate_sees_what_is_missing() -> None:
    assert unpinned({"PyJWT[crypto]>=2", "uvloop>=1; os_name != 'nt'"}, "uvloop==1.0\n") == {"pyjwt"}
