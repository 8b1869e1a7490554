"""Which server a test is about: an object in this process, a process, or a URL."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from assay import Server, Stdio

if TYPE_CHECKING:
    from assay.client.target import Target
    from assay.lab.target import Target as LabTarget

_NAMED: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
FORMS: Final = 'a Server, "package.module:name", a URL, or Stdio("program", "argument")'


class BadTarget(Exception):
    """Not a server; the text says what to write."""


def client_target(value: Any, *, process: bool = False) -> Target:
    """What a client connects to.

    Args:
        value: A `Server`, `Stdio`, a URL, or `package.module:name` of a server or of a function that
            returns one.
        process: Whether a named server runs in a new process instead of this one.

    Raises:
        BadTarget: it is something else, or cannot be imported.
    """
    if isinstance(value, str) and "://" not in value:
        _check_name(value)
        return served_process(value) if process else load(value)
    if isinstance(value, Server):
        if process:
            problem = "a Server object cannot run in another process"
            raise BadTarget(f'{problem}: name it, as @pytest.mark.assay_server("package.module:name")')
        return value
    if isinstance(value, str | Stdio | Mapping | os.PathLike):
        return value  # what `Client` takes, mcpServers configurations among it
    raise BadTarget(f"not a server: {value!r}; use {FORMS}")


def served_process(name: str) -> Stdio:
    """The server of that name on the standard streams of a new process, which imports what this one can."""
    command = (sys.executable, "-m", "assay", "serve", name)
    return Stdio(*command, env=import_environment(), inherit_env=True)


def import_environment() -> dict[str, str]:
    """Variables with which a process finds the same modules: pytest's `pythonpath` is in `sys.path` only."""
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def lab_target(value: Any) -> LabTarget:
    """What the lab judges. It starts every server itself: it never shares a process with its subject.

    Raises:
        BadTarget: it is something else.
    """
    from assay.lab.target import Command, Served, Url

    if isinstance(value, Stdio):
        return Command(_words(value))
    if not isinstance(value, str):
        raise BadTarget(f'the lab starts the server itself: name it as "package.module:name", not {value!r}')
    if "://" in value:
        return Url(value)
    _check_name(value)
    return Served(value, environment=import_environment())


def _words(target: Stdio) -> tuple[str, ...]:
    """
    Raises:
        BadTarget: it has options that the lab cannot pass on.
    """
    if target.env or target.cwd:
        words = " ".join(f"{name}=…" for name in target.env or {})
        fix = f"write them into the command: Stdio('env', {words!r}, {shlex.join(target.command)!r})"
        raise BadTarget(f"the lab takes no env= and cwd= of {target!r}: {fix}")
    return target.command


def load(name: str) -> Server[Any]:
    """
    Raises:
        BadTarget: the module does not exist, or has no server of that name.
    """
    module_name, _, attribute = name.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise
        fix = 'install the project, or add its folder to pytest\'s settings: pythonpath = ["src"]'
        raise BadTarget(f"assay_server names {name}, but {error.name} cannot be imported: {fix}") from None
    value = getattr(module, attribute, None)
    if inspect.isfunction(value):
        value = value()
    if not isinstance(value, Server):
        raise BadTarget(f"{attribute} in {module_name} is not a Server: {value!r}")
    return value


def _check_name(value: str) -> None:
    if not _NAMED.fullmatch(value):
        raise BadTarget(f"not a server: {value!r}; use {FORMS}")
