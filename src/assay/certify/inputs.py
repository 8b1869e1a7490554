"""The inputs of a certification besides the server, read and checked before the server is judged."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from assay.certify.bundle.bundle_manifest import Artifact
from assay.certify.bundle.contents import Inputs
from assay.certify.bundle.directory import CannotWrite, check_target
from assay.certify.bundle.node_tree import read_tree
from assay.certify.bundle.supply_chain import SupplyChain
from assay.lab.error import CannotJudge, InvalidOptions
from assay.lab.harness.run.run import Run
from assay.lab.surroundings import check_directories, read_entry
from assay.lab.target import Command, Served, Target
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey, read_public_key, read_signing_key

from . import metrics
from .bundle import environment, provenance, sbom
from .conclusion import identities
from .metrics import BadMetrics, Metrics
from .options import CertifyOptions
from .profile_list import newest
from .scope import scope_of
from .vulnerabilities import osv_export

T = TypeVar("T")
NEEDED: Final = {"trust_harness": "metrics", "platform": "metrics", "waive": "osv", "attestation": "artifact"}
"""Options that have no effect without another."""
_PYTHON: Final = re.compile(r"(python|pypy)(\d+(\.\d+)?)?(\.exe)?")
_NO_KEY: Final = "`assay keygen` makes a pair of keys: NAME.key signs"
LONGEST_LIFETIME: Final = timedelta(days=366)
LONGEST: Final = 256
"""Characters of a name or a version."""


def inputs_of(targets: Sequence[Target], options: CertifyOptions) -> Inputs:
    """
    Raises:
        InvalidOptions: something cannot be read, or is not what it should be.
    """
    _check(options)
    _check_place(options)
    python = _python(targets, options)
    _check_evidence(options, python)
    harness_key: SigningKey | None = _read_optional(read_signing_key, options.harness_key, fix=_NO_KEY)
    measurements, harness = _metrics(options, harness_key)
    entry = _read_optional(read_entry, options.evidence.registry)
    return Inputs(
        server=_name(options.server, "--server"),
        version=_name(options.server_version, "--server-version"),
        profile=_read(newest, options.profile),
        created=this_moment(),
        lifetime=options.lifetime,
        artifact=_read_optional(Artifact.of, options.artifact),
        key=_read_optional(read_signing_key, options.key, fix=_NO_KEY),
        supply=_supply_chain(options, python),
        metrics=measurements,
        harness=harness,
        platform=options.platform,
        registry=entry,
        scope=scope_of(targets, options.scope, entry),
        harness_key=harness_key,
    )


def this_moment() -> datetime:
    """Now, in whole seconds, the precision of all documents."""
    return datetime.now(UTC).replace(microsecond=0)


def entry_of(inputs: Inputs) -> dict[str, Any] | None:
    return None if inputs.registry is None else dict(json.loads(inputs.registry))


def _python(targets: Sequence[Target], options: CertifyOptions) -> Path | None:
    """The interpreter whose environment is described: the one in the options, or one that the lab starts.

    Raises:
        InvalidOptions: the options name another one than that of the server.
    """
    started = next(filter(None, map(_interpreter, targets)), None)
    if options.python is None:
        return started
    # The file itself may be a link to an interpreter that several environments share.
    if started is not None and started.parent.resolve() != options.python.parent.resolve():
        problem = f"--python {options.python} is not the server's interpreter, which is {started}"
        raise InvalidOptions(problem, "leave out --python, so that its packages are listed")
    return options.python


def _interpreter(target: Target) -> Path | None:
    """The Python that runs the target; None if that is unknown."""
    if isinstance(target, Served):
        return Path(sys.executable)
    program = shutil.which(target.words[0]) if isinstance(target, Command) else None
    if program is None:
        return None
    if _PYTHON.fullmatch(Path(program).name):
        return Path(program)
    line = b""
    with suppress(OSError), open(program, "rb") as file:
        line = file.readline(LONGEST)
    script = Path(line[2:].decode(errors="replace").strip())
    return script if line.startswith(b"#!/") and _PYTHON.fullmatch(script.name) else None


def _check(options: CertifyOptions) -> None:
    """Reject options that would have no effect."""
    for name, needed in NEEDED.items():
        if getattr(options, name) and not getattr(options, needed):
            problem = f"--{name.replace('_', '-')} is about --{needed}, which is not given"
            raise InvalidOptions(problem, f"add --{needed} FILE, or leave it out")
    if options.harness_key and not (options.metrics or options.bench):
        problem = "--harness-key signs benchmarks, and there are none"
        raise InvalidOptions(problem, "add --bench or --metrics FILE, or leave it out")
    if options.harness_key and options.trust_harness:
        problem = "give --harness-key to sign the metrics, or --trust-harness if they are signed, not both"
        raise InvalidOptions(problem)
    if options.lifetime > LONGEST_LIFETIME:
        problem = f"--lifetime is {options.lifetime.days} days, and evidence is outdated by then"
        raise InvalidOptions(problem, f"at most {LONGEST_LIFETIME.days}d: certify again in time")
    if options.key and not options.out:
        raise InvalidOptions("--key signs a bundle, but none is written", "give --out DIR")


def _check_place(options: CertifyOptions) -> None:
    """Whether the bundle can be written, before minutes of judging."""
    try:
        if options.out is not None:
            check_target(options.out, force=options.force)
    except CannotWrite as error:
        raise InvalidOptions(str(error)) from error


def _check_evidence(options: CertifyOptions, python: Path | None) -> None:
    """Check the other evidence, as far as that is quick."""
    if options.osv is not None:
        _read(_first_record, options.osv, fix="give an OSV export with --osv")
    if python is not None:
        _read(environment.inspect, python, fix="name the server's interpreter with --python EXE")
    check_directories(options.evidence.observe)


def _supply_chain(options: CertifyOptions, python: Path | None) -> SupplyChain:
    bill = _read_optional(_read_sbom, options.sbom)
    attestation = _read_optional(_read_provenance, options.attestation)
    if options.npm is not None:
        _read(read_tree, options.npm, fix="name the directory of package-lock.json with --npm")
    return SupplyChain(python, options.npm, bill, options.osv, options.waive, attestation)


def _read_sbom(path: Path) -> bytes:
    data = path.read_bytes()
    sbom.validate(data)
    return data


def _read_provenance(path: Path) -> bytes:
    data = path.read_bytes()
    provenance.read(data)
    return data


def _first_record(export: Path) -> None:
    next(osv_export.records(export))


def with_reported_name(inputs: Inputs, run: Run) -> Inputs:
    """Fill in the name and version that the server reports, where the options have none.

    Raises:
        CannotJudge: it reports none, or none that can be printed, or there are several servers.
    """
    if len(names := identities(run)) > 1:
        problem = f"these are several servers: {', '.join(map(repr, names))}"
        raise CannotJudge(problem, "certify each by itself, with --scope")
    reported = next((facts.server for record in run.subjects for facts in record.facts), {})
    fields = {
        "server": inputs.server or reported.get("name"),
        "version": inputs.version or reported.get("version"),
    }
    for field, text in fields.items():
        if not _is_printable(text):
            problem = f"the server reports no {'name' if field == 'server' else field} that can be printed"
            raise CannotJudge(problem, "add --server NAME and --server-version V")
    return replace(inputs, **fields)


def _name(text: str | None, option: str) -> str:
    """The name from the options; empty where the server's own is used."""
    if text is not None and not _is_printable(text):
        raise InvalidOptions(f"{option} is not a name: {text[:LONGEST]!r}", "use printable characters")
    return text or ""


def _is_printable(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST and text.isprintable()


def _metrics(options: CertifyOptions, key: SigningKey | None) -> tuple[Metrics | None, str | None]:
    """The metrics, and the id of the key that signed them, if one did."""
    if options.metrics is None:
        return None, None
    data = _read(Path.read_bytes, options.metrics)
    if key is not None:
        signed = metrics.read(_read(metrics.sign, data, key, about=options.metrics))
        _check_server(signed, options)
        return signed, key.public.id
    trust = None
    if options.trust_harness:
        if metrics.signer_named(data) is None:
            problem = f"{options.metrics} is not signed, so not by --trust-harness"
            raise InvalidOptions(problem, "give the signed file, or leave --trust-harness out")
        trust = Trust([(_read(read_public_key, options.trust_harness), Role.HARNESS)])
    measurements: Metrics = _read(metrics.read, data, trust, about=options.metrics)
    _check_server(measurements, options)
    return measurements, measurements.signer


def _check_server(measurements: Metrics, options: CertifyOptions) -> None:
    if options.server is None:
        problem = "metrics are looked up by the server's name, but none is given"
        raise InvalidOptions(problem, "add --server NAME, as it is written there")
    try:
        measurements.select(options.server, options.platform)
    except BadMetrics as error:
        fix = "--server and --platform must name exactly one run there"
        raise InvalidOptions(f"{options.metrics}: {error}", fix) from error


def _read_optional(read: Callable[[Path], T], path: Path | None, fix: str = "") -> T | None:
    return None if path is None else _read(read, path, fix=fix)


def _read(read: Callable[..., T], *arguments: Any, about: Path | None = None, fix: str = "") -> T:
    """Call a reader, and convert its errors; `about` names the file if the reader does not know it.

    Raises:
        InvalidOptions: the input cannot be read.
    """
    try:
        return read(*arguments)
    except OSError as error:
        problem = f"cannot read {error.filename or arguments[0]}: {error.strerror}"
        raise InvalidOptions(problem, fix) from error
    except ValueError as error:
        raise InvalidOptions(f"{about}: {error}" if about else str(error), fix) from error
