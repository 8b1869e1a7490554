"""What `assay certify` is given beside the server, read before anything is judged: mistakes show first."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from assay.certify import metrics
from assay.certify.bundle import environment
from assay.certify.bundle.bundle_manifest import Artifact
from assay.certify.bundle.contents import Inputs
from assay.certify.bundle.directory import CannotWrite, check_place
from assay.certify.metrics import Metrics
from assay.certify.profile_list import newest
from assay.certify.vulnerabilities import osv_export
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.run.run import Run
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey, read_public_key, read_signing_key

from .beside import check_observed, registry_entry

T = TypeVar("T")
_PYTHON: Final = re.compile(r"(python|pypy)(\d+(\.\d+)?)?(\.exe)?")
NO_KEY: Final = "`assay keygen` makes a pair of keys: NAME.key signs"
LONGEST: Final = 256
"""Characters of a name or a version."""


def inputs_of(options: argparse.Namespace) -> Inputs:
    """
    Raises:
        CommandFailed: something cannot be read, or is not what it should be.
    """
    _check(options)
    _check_places(options)
    _check_evidence(options)
    key = options.key and _good(read_signing_key, options.key, hint=NO_KEY)
    given, harness = _metrics(options)
    return Inputs(
        server=_given(options.server, "--server"),
        version=_given(options.server_version, "--server-version"),
        profile=_good(newest, options.profile),
        created=this_moment(),
        lifetime=options.lifetime,
        artifact=options.artifact and _good(Artifact.of, options.artifact),
        key=key,
        python=python_of(options),
        osv=options.osv,
        waived=tuple(options.waive),
        metrics=given,
        harness=harness,
        registry=options.registry and registry_entry(options.registry),
    )


def this_moment() -> datetime:
    """Whole seconds: no document says more."""
    return datetime.now(UTC).replace(microsecond=0)


def entry_of(inputs: Inputs) -> dict[str, Any] | None:
    """The entry in the registry, which was found to be an object."""
    return None if inputs.registry is None else dict(json.loads(inputs.registry))


def python_of(options: argparse.Namespace) -> Path | None:
    """Whose environment is described: the one that is named, or that of a Python that we start."""
    if options.python is not None:
        return Path(options.python)
    if options.target:
        return Path(sys.executable)
    words = shlex.split(options.command or "")
    if not words or not _PYTHON.fullmatch(Path(words[0]).name):
        return None
    found = shutil.which(words[0])
    return None if found is None else Path(found)


def _check(options: argparse.Namespace) -> None:
    """An option that does nothing was meant otherwise."""
    for name, needed in (("harness_key", "metrics"), ("trust_harness", "metrics"), ("waive", "osv")):
        if getattr(options, name) and not getattr(options, needed):
            problem = f"--{name.replace('_', '-')} is about --{needed}, which is not given"
            raise CommandFailed(ExitCode.USAGE, problem)
    if options.harness_key and options.trust_harness:
        problem = "give --harness-key to sign the metrics, or --trust-harness if they are signed, not both"
        raise CommandFailed(ExitCode.USAGE, problem)
    if options.key and not options.out:
        raise CommandFailed(ExitCode.USAGE, "--key signs a bundle, and none is written", "give --out DIR")


def _check_places(options: argparse.Namespace) -> None:
    """Whether all can be written that will be, after minutes of judging."""
    try:
        if options.out is not None:
            check_place(options.out, force=options.force)
    except CannotWrite as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    badge = options.badge_out
    if badge is not None and (badge.is_dir() or not os.access(badge.absolute().parent, os.W_OK)):
        raise CommandFailed(
            ExitCode.USAGE, f"cannot write {badge}", "name a file in a directory that is there"
        )


def _check_evidence(options: argparse.Namespace) -> None:
    """Whether it can be read, as far as that shows in a moment."""
    if options.osv is not None:
        _good(_first_record, options.osv, hint="give an OSV export with --osv")
    python = python_of(options)
    if python is not None:
        _good(environment.inspect, python, hint="name the server's interpreter with --python EXE")
    check_observed(options.observe)


def _first_record(export: Path) -> None:
    next(osv_export.records(export))


def named_by_itself(inputs: Inputs, run: Run) -> Inputs:
    """With the name and version that the server gave itself, where the user gave none.

    Raises:
        CommandFailed: it gave none either, or none that can be shown.
    """
    said = next((facts.server for record in run.subjects for facts in record.facts), {})
    found = {"server": inputs.server or said.get("name"), "version": inputs.version or said.get("version")}
    for field, text in found.items():
        if not _is_word(text):
            problem = f"the server gives itself no {'name' if field == 'server' else field} that can be shown"
            raise CommandFailed(ExitCode.INCOMPLETE, problem, "add --server NAME and --server-version V")
    return replace(inputs, **found)


def _given(text: str | None, option: str) -> str:
    """What the user calls it; nothing where that is left to the server."""
    if text is not None and not _is_word(text):
        raise CommandFailed(ExitCode.USAGE, f"{option} is no name: {text[:LONGEST]!r}")
    return text or ""


def _is_word(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST and text.isprintable()


def _metrics(options: argparse.Namespace) -> tuple[Metrics | None, str | None]:
    """The metrics, and the id of the key that signed them, if one did."""
    if options.metrics is None:
        return None, None
    data = _good(Path.read_bytes, options.metrics)
    if options.harness_key:
        key: SigningKey = _good(read_signing_key, options.harness_key, hint=NO_KEY)
        own = metrics.read(_good(metrics.sign, data, key, about=options.metrics))
        _check_about(own, options)
        return own, key.public.id
    trust = None
    if options.trust_harness:
        if metrics.signer_named(data) is None:
            problem = f"{options.metrics} is not signed, so not by --trust-harness"
            raise CommandFailed(ExitCode.USAGE, problem, "give the signed file, or leave --trust-harness out")
        trust = Trust([(_good(read_public_key, options.trust_harness), Role.HARNESS)])
    found: Metrics = _good(metrics.read, data, trust, about=options.metrics)
    _check_about(found, options)
    return found, found.signer


def _check_about(found: Metrics, options: argparse.Namespace) -> None:
    if options.server is None:
        problem = "measurements are looked up by the server's name, and none is given"
        raise CommandFailed(ExitCode.USAGE, problem, "add --server NAME, as it is written there")
    if found.of(options.server) is None:
        others = ", ".join(sorted({run.server for run in found.results.runs})) or "nobody"
        problem = f"{options.metrics} has no run of the server {options.server}, only of {others}"
        raise CommandFailed(ExitCode.USAGE, problem, "--server and the name there must be the same")


def _good(read: Callable[..., T], *given: Any, about: Path | None = None, hint: str | None = None) -> T:
    """`about` is the file, where the reader does not know it.

    Raises:
        CommandFailed: it cannot be read. All readers say themselves what is wrong.
    """
    try:
        return read(*given)
    except OSError as error:
        problem = f"cannot read {error.filename or given[0]}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem, hint) from error
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, f"{about}: {error}" if about else str(error), hint) from error
