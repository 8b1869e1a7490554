"""`npx` and `uvx` fetch a package and run it. In a sandbox without a network, the package is installed
before.

No code of the package runs then: scripts of npm packages and builds of Python packages are switched off,
because they would run outside of the sandbox.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from .error import CannotInstall

PATIENCE: Final = 600.0
LARGEST: Final = 1024 * 1024
"""Bytes of a package.json that is read."""
DIRECT: Final = "install the package yourself, and give the command that starts it"
REQUIREMENT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Request(NamedTuple):
    """A command line of a package runner."""

    packages: tuple[str, ...]
    command: str | None
    """The program of the package; None if it is the main one."""
    arguments: tuple[str, ...]
    python: str | None = None


class Runner(NamedTuple):
    """The options of a package runner that come before the package."""

    flags: frozenset[str]
    packages: frozenset[str]
    """Options with a package."""
    python: frozenset[str] = frozenset()


NPX: Final = Runner(
    frozenset({"-y", "--yes", "-q", "--quiet", "--prefer-offline", "--prefer-online"}),
    frozenset({"-p", "--package"}),
)
UVX: Final = Runner(
    frozenset({"-q", "--quiet", "--isolated", "--no-progress", "-U", "--upgrade"}),
    frozenset({"--from", "--with", "-w"}),
    frozenset({"-p", "--python"}),
)


def runner_of(words: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """`npx` or `uvx` and the words after it; None for any other command."""
    name, rest = Path(words[0]).name, tuple(words[1:])
    if name in ("npx", "uvx"):
        return name, rest
    if name == "npm" and rest[:1] in (("exec",), ("x",)):
        return "npx", rest[1:]
    if name == "uv" and rest[:2] == ("tool", "run"):
        return "uvx", rest[2:]
    return None


def parse(words: Sequence[str], runner: Runner) -> Request:
    """
    Raises:
        CannotInstall: there is no package, or an option is unknown.
    """
    packages: list[str] = []
    python = None
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option, equals, value = rest.pop(0).partition("=")
        if option == "--":
            break
        if option in runner.flags:
            continue
        if option not in runner.packages | runner.python or not (equals or rest):
            raise CannotInstall(f"the option {option} cannot be followed in a sandbox", DIRECT)
        value = value if equals else rest.pop(0)
        if option in runner.python:
            python = value
        else:
            packages.append(value)
    if not rest:
        raise CannotInstall("no package is named", "write it as `npx NAME` or `uvx NAME`")
    main, *arguments = rest
    if packages:
        return Request(tuple(packages), main, tuple(arguments), python)
    return Request((main,), None, tuple(arguments), python)


def installed(words: Sequence[str], directory: Path) -> tuple[str, ...]:
    """The command that starts the installed package; other commands as they are.

    Raises:
        CannotInstall: the package cannot be installed without running its code, or not at all.
    """
    run = runner_of(words)
    if run is None:
        return tuple(words)
    name, rest = run
    directory.mkdir(parents=True, exist_ok=True)
    if name == "npx":
        return _install_node(parse(rest, NPX), directory)
    return _install_python(parse(rest, UVX), directory)


def _install_node(request: Request, directory: Path) -> tuple[str, ...]:
    options = ("--prefix", str(directory), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    (directory / "package.json").write_text("{}")
    _run((_tool("npm"), "install", *options, *request.packages), request.packages)
    dependencies = _read(directory / "package.json").get("dependencies")
    names = [*dependencies] if isinstance(dependencies, dict) else []
    if not names:
        raise CannotInstall(f"npm installed no package for {' '.join(request.packages)}", DIRECT)
    command = request.command or node_command(
        names[0], _read(directory / "node_modules" / names[0] / "package.json")
    )
    return (str(_program(directory / "node_modules" / ".bin" / command)), *request.arguments)


def node_command(package: str, manifest: Mapping[str, object]) -> str:
    """The program that `npx` would run: the only one, or that with the name of the package.

    Raises:
        CannotInstall: it is not clear which.
    """
    short = package.rpartition("/")[2]
    programs = manifest.get("bin")
    names = [short] if isinstance(programs, str) else [*programs] if isinstance(programs, dict) else []
    if len(names) == 1:
        return str(names[0])
    if short in names:
        return short
    problem = f"{package} has {len(names)} programs: {', '.join(map(str, names)) or 'none'}"
    raise CannotInstall(problem, f"name one: npx -p {package} NAME")


def _install_python(request: Request, directory: Path) -> tuple[str, ...]:
    uv = _tool("uv")
    version = ("--python", request.python) if request.python else ()
    _run((uv, "venv", "--quiet", "--clear", *version, str(directory)), request.packages)
    packages = tuple(requirement(package) for package in request.packages)
    python = str(directory / "bin" / "python")
    _run((uv, "pip", "install", "--quiet", "--no-build", "--python", python, *packages), request.packages)
    match = REQUIREMENT_NAME.match(request.packages[0])
    command = request.command or (match[0] if match else request.packages[0])
    return (str(_program(directory / "bin" / command)), *request.arguments)


def requirement(package: str) -> str:
    """uvx accepts `name@1.2` and `name@latest` besides requirements."""
    name, at, version = package.partition("@")
    if not at or not REQUIREMENT_NAME.fullmatch(name) or "/" in version:
        return package
    return name if version == "latest" else f"{name}=={version}"


def _program(path: Path) -> Path:
    if not path.exists():
        raise CannotInstall(f"the package has no program {path.name}", "name its program with --from or -p")
    return path


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise CannotInstall(
            f"{name} was not found, which installs the package", f"install {name}, or check PATH"
        )
    return path


def _read(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            return dict(json.loads(file.read(LARGEST)))
    except (OSError, ValueError) as error:
        raise CannotInstall(f"cannot read {path}: {error}", DIRECT) from error


def _run(command: Sequence[str], packages: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(f"{command[0]} did not end within {PATIENCE:g} s", DIRECT) from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason was printed"]
        raise CannotInstall(f"cannot install {' '.join(packages)}: {lines[-1]}", DIRECT)
