"""How a run was started, for the line that runs one of its scenarios again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from assay.lab.harness.repeat.scenario_line import Repetition
from assay.lab.harness.repeat.variable import VARIABLES

from .access import KINDS
from .options import Access, JudgeOptions
from .target import Command, Served, Target, Url

_SWITCHES: Final = ("allow_effects", "allow_destructive", "allow_load", "isolate")
_FILES: Final = ("ca", "client_cert", "client_key")
_FROM_AUTHORITY: Final = ("authority", "audience", "client_id")


def repetition_of(target: Target, options: JudgeOptions, suite: str) -> Repetition:
    """Credentials are named as variables of the shell."""
    words, command = _target(target)
    return Repetition(words, tuple(_options(options, suite)), command)


def _target(target: Target) -> tuple[str, str]:
    match target:
        case Served(name, options):
            return shlex.quote(shlex.join([name, *options])) if options else shlex.quote(name), ""
        case Command(words):
            return "", shlex.join(words)
        case Url(url, command):
            return shlex.quote(url), shlex.join(command)


def _options(options: JudgeOptions, suite: str) -> Iterator[str]:
    if suite != "protocol":
        yield f"--suite {shlex.quote(suite)}"
    yield from (_name(switch) for switch in _SWITCHES if getattr(options, switch))
    if isinstance(options.arguments, Path):
        yield f"--arguments {shlex.quote(str(options.arguments))}"
    if options.timeout != JudgeOptions().timeout:
        yield f"--timeout {options.timeout:g}"
    yield from _access(options.access)
    evidence = options.evidence
    yield from (f"--observe {shlex.quote(str(path))}" for path in evidence.observe)
    if evidence.registry is not None:
        yield f"--registry {shlex.quote(str(evidence.registry))}"
    if evidence.otlp is not None:
        yield f"--otlp {shlex.quote(evidence.otlp)}"


def _access(access: Access) -> Iterator[str]:
    for name in access.headers:
        variable = name.upper().replace("-", "_")
        yield f'--header "{name}: ${variable}"'
    for field, kind in KINDS.items():
        if getattr(access, field):
            yield f'{_name(field)} "${VARIABLES[kind]}"'
    for field in (*_FROM_AUTHORITY, *_FILES):
        if (value := getattr(access, field)) is not None:
            yield f"{_name(field)} {shlex.quote(str(value))}"
    yield from (f"--token-scope {shlex.quote(scope)}" for scope in access.token_scope)


def _name(field: str) -> str:
    return f"--{field.replace('_', '-')}"
