"""What `assay certify` is given beside the server, read before anything is judged: mistakes show first."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from assay.certify import metrics
from assay.certify.bundle_manifest import Artifact
from assay.certify.dossier import Inputs
from assay.certify.metrics import Metrics
from assay.certify.profile_list import shipped
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey, read_public_key, read_signing_key

T = TypeVar("T")
_PYTHON: Final = re.compile(r"(python|pypy)(\d+(\.\d+)?)?(\.exe)?")
LONGEST: Final = 256
"""Characters of a name or a version."""


def inputs_of(options: argparse.Namespace) -> Inputs:
    """
    Raises:
        CommandFailed: something cannot be read, or is not what it should be.
    """
    _check(options)
    key = options.key and _good(read_signing_key, options.key)
    given, harness = _metrics(options)
    return Inputs(
        server=_word(options.server, "--server"),
        version=_word(options.server_version, "--server-version"),
        profile=_good(shipped, options.profile),
        created=this_moment(),
        lifetime=options.lifetime,
        artifact=options.artifact and _good(Artifact.of, options.artifact),
        key=key,
        python=python_of(options),
        osv=options.osv,
        waived=tuple(options.waive),
        metrics=given,
        harness=harness,
        registry=options.registry and _registry(options.registry),
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
    if options.osv is not None and not options.osv.exists():
        raise CommandFailed(ExitCode.USAGE, f"there is no {options.osv}", "give an OSV export with --osv")
    if options.out and not options.force and _is_taken(options.out):
        hint = "name another directory; --force replaces an older bundle"
        raise CommandFailed(ExitCode.USAGE, f"{options.out} is there already", hint)


def _is_taken(path: Path) -> bool:
    return path.exists() and (not path.is_dir() or any(path.iterdir()))


def _word(text: str, option: str) -> str:
    if not text.strip() or len(text) > LONGEST or not text.isprintable():
        raise CommandFailed(ExitCode.USAGE, f"{option} is no name: {text[:LONGEST]!r}")
    return text


def _metrics(options: argparse.Namespace) -> tuple[Metrics | None, str | None]:
    """The metrics, and the id of the key that signed them, if one did."""
    if options.metrics is None:
        return None, None
    data = _good(Path.read_bytes, options.metrics)
    if options.harness_key:
        key: SigningKey = _good(read_signing_key, options.harness_key)
        signed = _good(metrics.sign, data, key, about=options.metrics)
        return metrics.read(signed), key.public.id
    trust = None
    if options.trust_harness:
        trust = Trust([(_good(read_public_key, options.trust_harness), Role.HARNESS)])
    found: Metrics = _good(metrics.read, data, trust, about=options.metrics)
    return found, found.signer


def _registry(path: Path) -> bytes:
    data: bytes = _good(Path.read_bytes, path)
    if not isinstance(_good(json.loads, data, about=path), dict):
        raise CommandFailed(ExitCode.USAGE, f"{path} is no server.json: it holds no object")
    return data


def _good(read: Callable[..., T], *given: Any, about: Path | None = None) -> T:
    """`about` is the file, where the reader does not know it.

    Raises:
        CommandFailed: it cannot be read. All readers say themselves what is wrong.
    """
    try:
        return read(*given)
    except OSError as error:
        problem = f"cannot read {error.filename or given[0]}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem) from error
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, f"{about}: {error}" if about else str(error)) from error
