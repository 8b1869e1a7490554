"""The packages that are installed for a Python interpreter, queried in a process of that interpreter."""

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
MAX_MESSAGE: Final = 200
"""Characters of an error message: a program that is not Python may echo the whole script."""

# Runs on Python 3.8 and later. The first distribution of a name is the importable one. Markers as in PEP 508.
SCRIPT: Final = """\
import hashlib, json, os, platform, sys
from importlib.metadata import distributions

packages = []
for package in distributions():
    metadata, place = package.metadata or {}, str(package.locate_file(""))
    name, version = metadata.get("Name"), metadata.get("Version")
    if not name or not version:
        sys.exit("a package without a name or a version in {}: {}".format(place, name or version))
    requires = list(package.requires or ())
    licences = [metadata.get("License-Expression"), metadata.get("License")]
    licences += [text.rpartition("::")[2].strip() for text in metadata.get_all("Classifier") or ()
                 if text.startswith("License ::")]
    licence = next((text for text in licences if text and text != "UNKNOWN" and len(text) <= 100), "")
    record = package.read_text("RECORD")
    digest = hashlib.sha256(record.encode("utf-8", "surrogateescape")).hexdigest() if record else ""
    packages.append({"name": name, "version": version, "requires": requires, "place": place,
                     "licence": licence, "record_sha256": digest})
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
print(json.dumps({"markers": markers, "distributions": packages}))
"""


class BadEnvironment(ValueError):
    """The interpreter does not report its packages; the message names it and the cause."""


class Distribution(msgspec.Struct, frozen=True, dict=True):
    name: str
    version: str
    requires: tuple[str, ...]
    place: str
    licence: str = ""
    """An SPDX expression, or the name that the package gives."""
    record_sha256: str = ""
    """Of its RECORD, which lists the digest of every installed file."""

    @cached_property
    def key(self) -> str:
        return canonicalize_name(self.name)

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        try:
            return tuple(map(Requirement, self.requires))
        except InvalidRequirement as error:
            raise BadEnvironment(
                f"{self.name} in {self.place} has an invalid requirement: {error}"
            ) from error


class Environment(msgspec.Struct, frozen=True):
    markers: dict[str, str]
    distributions: tuple[Distribution, ...]
    """Sorted by name, each once."""


def inspect(python: Path) -> Environment:
    """Query an interpreter, without `PYTHONPATH`, the user site directory and the working directory.

    Raises:
        BadEnvironment: it does not start, fails, or has a package without a name or a version.
    """
    output = _query(python)
    if len(output) > MAX_BYTES:
        raise BadEnvironment(f"{python} printed more than {MAX_BYTES} bytes")
    try:
        # Packages may print at start-up: the script's output is the last line.
        environment = msgspec.json.decode(output.strip().rpartition(b"\n")[2], type=Environment)
    except msgspec.DecodeError as error:
        raise BadEnvironment(f"{python} does not report its packages: {error}") from error
    first = {package.key: package for package in reversed(environment.distributions)}
    return Environment(environment.markers, tuple(first[key] for key in sorted(first)))


def _query(python: Path) -> bytes:
    command = [str(python), "-I", "-c", SCRIPT]
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BadEnvironment(f"{python} did not answer within {TIMEOUT:g} seconds") from error
    except OSError as error:
        raise BadEnvironment(f"cannot start {python}: {error.strerror}; name a Python interpreter") from error
    if process.returncode:
        last = process.stderr.decode(errors="replace").strip().rpartition("\n")[2][:MAX_MESSAGE]
        raise BadEnvironment(
            f"{python} does not report its packages: {last or f'exit code {process.returncode}'}"
        )
    return process.stdout


def dependencies(environment: Environment) -> dict[str, tuple[str, ...]]:
    """The installed dependencies of each distribution, including those of the extras that others require."""
    installed = {package.key: package for package in environment.distributions}
    extras: dict[str, set[str]] = {key: {""} for key in installed}
    while True:
        edges = {
            key: list(_required(package, extras[key], environment.markers))
            for key, package in installed.items()
        }
        before = sum(map(len, extras.values()))
        for requirement in (requirement for requirements in edges.values() for requirement in requirements):
            extras.get(canonicalize_name(requirement.name), set()).update(requirement.extras)
        if sum(map(len, extras.values())) == before:
            break
    return {
        key: tuple(sorted({canonicalize_name(edge.name) for edge in outgoing} & installed.keys() - {key}))
        for key, outgoing in edges.items()
    }


def _required(package: Distribution, extras: set[str], markers: Mapping[str, str]) -> Iterator[Requirement]:
    for requirement in package.requirements:
        environments: list[dict[str, Any]] = [{**markers, "extra": extra} for extra in extras]
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
            yield requirement
