"""What is installed for a Python interpreter, which need not be ours: it is asked, in its own process."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

TIMEOUT: Final = 60.0
MAX_BYTES: Final = 64 * 1024 * 1024
SHOWN: Final = 200
"""Characters of a complaint: what is no Python may repeat all of our question."""

# For any Python since 3.8. What is found first is what would be imported. The markers are those of PEP 508.
SCRIPT: Final = """\
import json, os, platform, sys
from importlib.metadata import distributions

found = []
for one in distributions():
    about, place = one.metadata or {}, str(one.locate_file(""))
    name, version = about.get("Name"), about.get("Version")
    if not name or not version:
        sys.exit("a package without a name or a version in {}: {}".format(place, name or version))
    found.append({"name": name, "version": version, "requires": list(one.requires or ()), "place": place})
markers = {
    "implementation_name": sys.implementation.name,
    "implementation_version": "{0.major}.{0.minor}.{0.micro}".format(sys.implementation.version),
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": platform.python_version(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform,
}
print()
print(json.dumps({"markers": markers, "distributions": found}))
"""


class BadEnvironment(ValueError):
    """An interpreter does not say what it has; the text names it, and why."""


class Distribution(msgspec.Struct, frozen=True, dict=True):
    name: str
    version: str
    requires: tuple[str, ...]
    place: str

    @cached_property
    def key(self) -> str:
        return canonicalize_name(self.name)

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        try:
            return tuple(map(Requirement, self.requires))
        except InvalidRequirement as error:
            raise BadEnvironment(
                f"{self.name} in {self.place} requires what cannot be read: {error}"
            ) from error


class Environment(msgspec.Struct, frozen=True):
    markers: dict[str, str]
    distributions: tuple[Distribution, ...]
    """By name, each once."""


def inspect(python: Path) -> Environment:
    """Ask an interpreter, leaving aside `PYTHONPATH`, the user's own packages and the working directory.

    Raises:
        BadEnvironment: it cannot be started, fails, or has a package without a name or a version.
    """
    said = _ask(python)
    if len(said) > MAX_BYTES:
        raise BadEnvironment(f"{python} describes itself in more than {MAX_BYTES} bytes")
    try:
        # Packages may greet whoever starts the interpreter: the last line is ours.
        environment = msgspec.json.decode(said.strip().rpartition(b"\n")[2], type=Environment)
    except msgspec.DecodeError as error:
        raise BadEnvironment(f"{python} does not describe what is installed: {error}") from error
    first = {one.key: one for one in reversed(environment.distributions)}
    return Environment(environment.markers, tuple(first[key] for key in sorted(first)))


def _ask(python: Path) -> bytes:
    command = [str(python), "-I", "-c", SCRIPT]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BadEnvironment(f"{python} did not answer within {TIMEOUT:g} seconds") from error
    except OSError as error:
        raise BadEnvironment(f"cannot start {python}: {error.strerror}; give a Python interpreter") from error
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:SHOWN]
        raise BadEnvironment(
            f"{python} does not say what is installed: {last or f'exit code {done.returncode}'}"
        )
    return done.stdout


def dependencies(environment: Environment) -> dict[str, tuple[str, ...]]:
    """For each distribution those that it requires and that are installed; of its extras, those asked for."""
    installed = {one.key: one for one in environment.distributions}
    extras: dict[str, set[str]] = {key: {""} for key in installed}
    while True:
        edges = {
            key: list(_required(one, extras[key], environment.markers)) for key, one in installed.items()
        }
        before = sum(map(len, extras.values()))
        for wanted in (wanted for found in edges.values() for wanted in found):
            extras.get(canonicalize_name(wanted.name), set()).update(wanted.extras)
        if sum(map(len, extras.values())) == before:
            break
    return {
        key: tuple(sorted({canonicalize_name(wanted.name) for wanted in found} & installed.keys() - {key}))
        for key, found in edges.items()
    }


def _required(one: Distribution, extras: set[str], markers: Mapping[str, str]) -> Iterator[Requirement]:
    for wanted in one.requirements:
        surroundings: list[dict[str, Any]] = [{**markers, "extra": extra} for extra in extras]
        if wanted.marker is None or any(map(wanted.marker.evaluate, surroundings)):
            yield wanted
