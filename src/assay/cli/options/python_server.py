"""Load the server that a target names: a bundled one, `path/to/file.py[:name]` or `package.module[:name]`. A
name is that of a server or of a function that returns one."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import assay.bundled
from assay import MissingExtra, Server
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.transport.target import BUNDLED as BUNDLED_SERVERS

from .factory import call_factory
from .failure import describe_failure

BUNDLED = assay.bundled.__name__
REFERENCE = "reference"


def load_server(target: str, arguments: Sequence[str] | None = None, **options: Any) -> Server:
    """Import the target and find the server in it, or the function that returns it.

    Args:
        target: The target.
        arguments: What follows `--` on the command line, for the user's module and function; none without.
        options: Options of the reference server.

    Raises:
        CommandFailed: the file, module or server does not exist, or importing it failed.
    """
    if arguments is not None and target in bundled_names():
        problem = f"the bundled server `{target}` takes no arguments after `--`"
        raise CommandFailed(ExitCode.USAGE, problem, "leave them out; they are for a server of your own")
    if target == REFERENCE:
        return make_reference(**options)
    refuse_foreign(target)
    place, name = split(target)
    # On stdio the client reads standard output: a module that prints while it loads must not write there.
    sys.argv = [place, *(arguments or ())]
    with contextlib.redirect_stdout(sys.stderr):
        module = load_module(place)
    value = None if name is None else getattr(module, name, None)
    if name is not None and callable(value) and not isinstance(value, Server):
        return call_factory(value, name, arguments)
    return find_server(module, place, name)


def refuse_foreign(target: str) -> None:
    """
    Raises:
        CommandFailed: it is a URL or a command line, which `assay check` takes.
    """
    if "://" in target or (" " in target and not Path(target).exists()):
        problem = f"{'a URL' if '://' in target else 'a command'} cannot be served: {target}"
        raise CommandFailed(
            ExitCode.USAGE, problem, "give a Python file; `assay check` judges URLs and commands"
        )


def make_reference(*, root: str | None = None, strict: bool = False, seed_compat: bool = False) -> Server:
    """The reference server is the only bundled one with options."""
    from assay.bundled.reference import make_server

    try:
        folder = None if root is None else Path(root)
        return make_server(root=folder, strict=strict, seed_compat=seed_compat)
    except MissingExtra as error:
        raise CommandFailed(ExitCode.NOT_STARTED, str(error)) from error
    except OSError as error:
        problem = f"cannot serve the folder {root}: {error.strerror or error}"
        raise CommandFailed(ExitCode.USAGE, problem, "name a directory that can be read") from error


def split(target: str) -> tuple[str, str | None]:
    """The file or module, and the variable if there is one. `C:\\x.py` has none."""
    place, colon, name = target.rpartition(":")
    if not colon or (name and not name.isidentifier()):
        return target, None
    if not place or not name:
        raise CommandFailed(ExitCode.USAGE, f"incomplete target: {target}", "write it as file.py:name")
    return place, name


def load_module(place: str) -> ModuleType:
    if place in bundled_names():
        return import_module(f"{BUNDLED}.{place}")
    if place.endswith(".py") or os.sep in place or Path(place).exists():
        return load_file(Path(place))
    return load_named(place)


def bundled_names() -> tuple[str, ...]:
    return BUNDLED_SERVERS


def load_file(path: Path) -> ModuleType:
    """Import a file as `python path` would run it: modules beside it can be imported."""
    if not path.is_file():
        problem = "is a directory" if path.is_dir() else "no such file"
        raise CommandFailed(ExitCode.USAGE, f"{problem}: {path}", "give the path of a Python file")
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None:
        raise CommandFailed(ExitCode.USAGE, f"not a Python file: {path}", "its name must end in .py")
    sys.path.insert(0, str(path.resolve().parent))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise broken(str(path), error) from error
    return module


def _module_name(path: Path) -> str:
    """The name of the file, unless it would replace a module that is already loaded."""
    return path.stem if path.stem not in sys.modules else f"served_{path.stem}"


def load_named(name: str) -> ModuleType:
    sys.path.insert(0, os.getcwd())
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            bundled = ", ".join(bundled_names())
            hint = f"give file.py, package.module, or a bundled server: {bundled}"
            raise CommandFailed(ExitCode.USAGE, f"no module named {error.name}", hint) from error
        raise broken(name, error) from error


def broken(place: str, error: BaseException) -> CommandFailed:
    """The failure of a user's module, with the last line of their code that ran."""
    problem = f"importing {place} failed: {describe_failure(error)}"
    return CommandFailed(ExitCode.NOT_STARTED, problem, "`--traceback` shows the whole traceback")


def find_server(module: ModuleType, place: str, name: str | None) -> Server:
    """The variable of that name; without one, `server` or the only server in the module."""
    servers = {key: value for key, value in vars(module).items() if isinstance(value, Server)}
    if name is not None:
        if name in servers:
            return servers[name]
        problem = "is not a Server" if hasattr(module, name) else "does not exist"
        raise CommandFailed(ExitCode.USAGE, f"{name} {problem} in {place}", _choices(place, servers))
    if "server" in servers:
        return servers["server"]
    if len({id(server) for server in servers.values()}) == 1:
        return next(iter(servers.values()))
    problem = f"several servers in {place}" if servers else f"no server in {place}"
    raise CommandFailed(ExitCode.USAGE, problem, _choices(place, servers))


def _choices(place: str, servers: dict[str, Server]) -> str:
    if not servers:
        variable = 'it must have a variable such as `server = assay.Server("name")`'
        return f"{variable}, or a function that returns one: {place}:make_server"
    return "choose: " + ", ".join(f"{place}:{name}" for name in servers)
