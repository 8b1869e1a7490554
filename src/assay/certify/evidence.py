"""What is judged without a trace: the SBOM, the vulnerabilities, the signature."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from packaging.utils import canonicalize_name

from assay.certify.bundle.bundle_manifest import moment
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
    ReasonKind.NEEDS_OPTION, "whose environment it is was not told: --python EXE does that", ("--python",)
)
NO_EXPORT: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "no export of known vulnerabilities was given: --osv FILE does that",
    ("--osv",),
)
NO_KEY: Final = Reason(ReasonKind.NEEDS_OPTION, "the bundle is not signed: --key FILE does that", ("--key",))
SHOWN: Final = 5


def not_measured(reason: Reason) -> Evidence:
    return Evidence(Verdict.SKIPPED, reason.text, reason.options)


def judge_sbom(data: bytes, environment: Environment) -> Evidence:
    """Whether it is valid, and lists what is installed, no more and no less; it is asked again."""
    problem = _problem(data)
    if problem:
        return Evidence(Verdict.FAILURE, problem)
    installed = {(one.key, one.version) for one in environment.distributions}
    listed = _listed(data)
    if missing := installed - listed:
        return Evidence(Verdict.FAILURE, f"installed, and not listed: {_some(missing)}")
    if extra := listed - installed:
        return Evidence(Verdict.FAILURE, f"listed, and not installed: {_some(extra)}")
    return Evidence(Verdict.SUCCESS, f"{len(listed)} packages, all that are installed")


def judge_vulnerabilities(data: bytes, now: datetime) -> Evidence:
    try:
        return vulnerabilities.judge(vulnerabilities.read(data), now)
    except vulnerabilities.BadReport as error:
        return Evidence(Verdict.FAILURE, str(error))


def judge_signature(envelope: bytes, trust: Trust) -> Evidence:
    """Whether an envelope of the evidence is the developer's, whose key is pinned."""
    try:
        signed = dsse.verify(envelope, trust, Role.DEVELOPER)
    except InvalidEnvelope as error:
        return Evidence(Verdict.FAILURE, f"{error.reason}: {error}")
    return Evidence(Verdict.SUCCESS, f"signed with {signed.key_id}")


def again(stored: Mapping[str, Evidence], files: Mapping[str, bytes], created: str) -> dict[str, Evidence]:
    """What the files of a bundle still show; what only its maker could see is taken as it was said.

    The environment cannot be asked again elsewhere; who has signed, the verifier finds out before.
    """
    return {
        SBOM: _sbom_again(stored[SBOM], files.get(layout.SBOM)),
        VULNERABILITIES: (
            judge_vulnerabilities(files[layout.VULNERABILITIES], moment(created))
            if layout.VULNERABILITIES in files
            else _unproved(stored[VULNERABILITIES])
        ),
        SIGNATURE: stored[SIGNATURE],
    }


def _sbom_again(stored: Evidence, data: bytes | None) -> Evidence:
    if data is None:
        return _unproved(stored)
    problem = _problem(data)
    return Evidence(Verdict.FAILURE, problem) if problem else stored


def _unproved(stored: Evidence) -> Evidence:
    """Without the file nothing is shown, whatever was said."""
    return Evidence(Verdict.SKIPPED, stored.reason, stored.options)


def _problem(data: bytes) -> str:
    try:
        sbom.validate(data)
    except sbom.BadSbom as error:
        return str(error)
    return ""


def _listed(data: bytes) -> set[tuple[str, str]]:
    """The packages; the interpreter is no package."""
    components = json.loads(data).get("components", ())
    return {
        (canonicalize_name(one["name"]), one.get("version", ""))
        for one in components
        if one["type"] == "library"
    }


def _some(packages: set[tuple[str, str]]) -> str:
    named = sorted(f"{name} {version}" for name, version in packages)
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return ", ".join(named[:SHOWN]) + more
