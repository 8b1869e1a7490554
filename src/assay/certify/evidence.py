"""Demands that are judged without a trace: the SBOM, the vulnerabilities, the signature."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from packaging.utils import canonicalize_name

from assay.certify.bundle.bundle_manifest import parse_moment
from assay.certify.bundle.environment import Environment
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.verdict import Verdict
from assay.signing import dsse
from assay.signing.dsse import InvalidEnvelope, Role, Trust

from .bundle import layout, sbom
from .scoring import Evidence
from .vulnerabilities import report as vulnerabilities

SBOM: Final = "CONF-EVD-06.sbom"
VULNERABILITIES: Final = "CONF-EVD-06.vulnerabilities"
SIGNATURE: Final = "CONF-EVD-06.signature"
NO_PYTHON: Final = Reason(
    ReasonKind.NEEDS_OPTION, "the server's Python environment is unknown; add --python EXE", ("--python",)
)
NO_EXPORT: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "no export of known vulnerabilities was given; add --osv FILE",
    ("--osv",),
)
NO_KEY: Final = Reason(ReasonKind.NEEDS_OPTION, "the bundle is not signed; add --key FILE", ("--key",))
MAX_NAMES: Final = 5
"""Package names in a message."""


def not_measured(reason: Reason) -> Evidence:
    return Evidence(Verdict.SKIPPED, reason.text, reason.options)


def judge_sbom(data: bytes, environment: Environment) -> Evidence:
    """Whether the SBOM is valid and lists exactly the packages of the environment."""
    problem = _problem(data)
    if problem:
        return Evidence(Verdict.FAILURE, problem)
    installed = {(package.key, package.version) for package in environment.distributions}
    listed = _listed(data)
    if missing := installed - listed:
        return Evidence(Verdict.FAILURE, f"installed but not listed: {_some(missing)}")
    if extra := listed - installed:
        return Evidence(Verdict.FAILURE, f"listed but not installed: {_some(extra)}")
    return Evidence(Verdict.SUCCESS, f"all {len(listed)} installed packages are listed")


def judge_vulnerabilities(data: bytes, now: datetime) -> Evidence:
    try:
        return vulnerabilities.judge(vulnerabilities.read(data), now)
    except vulnerabilities.BadReport as error:
        return Evidence(Verdict.FAILURE, str(error))


def judge_signature(envelope: bytes, trust: Trust) -> Evidence:
    """Whether an envelope verifies with the developer's key."""
    try:
        signed = dsse.verify(envelope, trust, Role.DEVELOPER)
    except InvalidEnvelope as error:
        return Evidence(Verdict.FAILURE, f"{error.reason}: {error}")
    return Evidence(Verdict.SUCCESS, f"signed with {signed.key_id}")


def rebuild(stored: Mapping[str, Evidence], files: Mapping[str, bytes], created: str) -> dict[str, Evidence]:
    """Judge the files of a bundle again, and keep the stored result where that is impossible.

    The environment is not available to a verifier, who checks the signatures in an earlier step.
    """
    return {
        SBOM: _rebuild_sbom(stored[SBOM], files.get(layout.SBOM)),
        VULNERABILITIES: (
            judge_vulnerabilities(files[layout.VULNERABILITIES], parse_moment(created))
            if layout.VULNERABILITIES in files
            else _unproved(stored[VULNERABILITIES])
        ),
        SIGNATURE: stored[SIGNATURE],
    }


def _rebuild_sbom(stored: Evidence, data: bytes | None) -> Evidence:
    if data is None:
        return _unproved(stored)
    problem = _problem(data)
    return Evidence(Verdict.FAILURE, problem) if problem else stored


def _unproved(stored: Evidence) -> Evidence:
    """Without its file, a stored result counts as not measured."""
    return Evidence(Verdict.SKIPPED, stored.reason, stored.options)


def _problem(data: bytes) -> str:
    try:
        sbom.validate(data)
    except sbom.BadSbom as error:
        return str(error)
    return ""


def _listed(data: bytes) -> set[tuple[str, str]]:
    """The packages, without the interpreter."""
    components = json.loads(data).get("components", ())
    return {
        (canonicalize_name(component["name"]), component.get("version", ""))
        for component in components
        if component["type"] == "library"
    }


def _some(packages: set[tuple[str, str]]) -> str:
    names = sorted(f"{name} {version}" for name, version in packages)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
