"""The attestations of a bundle: an in-toto statement for each kind of evidence that has a predicate type.

A statement depends on the evidence alone, so a verifier can rebuild it and compare. Its subjects are the file
and, if one is named, the artifact that the evidence is about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from assay.signing import dsse
from assay.signing.keys import SigningKey

from . import layout
from .bundle_manifest import Artifact
from .manifest import BadManifest
from .statement import BadStatement, Statement, encode, statement

TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
CYCLONEDX: Final = "https://cyclonedx.org/bom"
SPDX: Final = "https://spdx.dev/Document"
VULNERABILITIES: Final = "https://in-toto.io/attestation/vulns/v0.2"
SCANNER: Final = "pkg:pypi/assay-mcp"


@dataclass(frozen=True)
class StatementContext:
    """What all statements of a bundle share."""

    profile_id: str
    created: str
    artifact: Artifact | None


Files = Mapping[str, bytes]
Predicate = Callable[[dict[str, Any], Files, StatementContext], dict[str, Any]]


def claims(files: Files, context: StatementContext) -> dict[str, Statement]:
    """The statements about these files, by the names of their envelopes.

    Raises:
        BadManifest: a file of evidence does not have the expected format.
    """
    return {
        f"{layout.ATTESTATIONS}{kind}{layout.ENVELOPE}": _claim(
            source, predicate_type, predicate, files, context
        )
        for kind, (source, predicate_type, predicate) in KINDS.items()
        if source in files
    }


def sign(claim: Statement, key: SigningKey) -> bytes:
    """
    Raises:
        BadManifest: the evidence contains values that a statement cannot represent.
    """
    try:
        return dsse.sign(encode(claim), key)
    except BadStatement as error:
        raise BadManifest(str(error)) from error


def _claim(
    source: str, predicate_type: str, predicate: Predicate, files: Files, context: StatementContext
) -> Statement:
    data = files[source]
    subjects = {source: sha256(data).hexdigest()}
    if context.artifact is not None:
        if context.artifact.name in subjects:
            raise BadManifest(f"the artifact has the same name as the evidence {source}: rename it")
        subjects[context.artifact.name] = context.artifact.sha256
    try:
        return statement(subjects, predicate_type, predicate(json.loads(data), files, context))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadManifest(f"{source} does not have the expected format: {error!r}") from error


def _test_result(summary: dict[str, Any], files: Files, context: StatementContext) -> dict[str, Any]:
    """The predicate over the scored demands. If too little was measured, the result is FAILED."""
    passed, warned, failed = (list(_scored(summary, status)) for status in ("SUCCESS", "WARNING", "FAILURE"))
    clean = "WARNED" if warned else "PASSED"
    list_digest = {"sha256": sha256(files[layout.PROFILE]).hexdigest()}
    return {
        "result": clean if summary["conclusion"] == "met" else "FAILED",
        "configuration": [{"name": context.profile_id, "digest": list_digest}],
        "passedTests": passed,
        "warnedTests": warned,
        "failedTests": failed,
    }


def _scored(summary: dict[str, Any], status: str) -> Iterator[str]:
    return (str(check["id"]) for check in summary["checks"] if check["scored"] and check["status"] == status)


def _sbom(document: dict[str, Any], files: Files, context: StatementContext) -> dict[str, Any]:
    return document


def _vulnerabilities(report: dict[str, Any], files: Files, context: StatementContext) -> dict[str, Any]:
    export = {"uri": f"sha256:{report['exportSha256']}", "lastUpdate": report["newest"]}
    findings = [
        {"id": finding["id"], "severity": finding.get("severity", [])} for finding in report["findings"]
    ]
    return {
        "scanner": {"uri": SCANNER, "db": export, "result": findings},
        "metadata": {"scanStartedOn": context.created, "scanFinishedOn": context.created},
    }


KINDS: Final[Mapping[str, tuple[str, str, Predicate]]] = {
    "summary": (layout.SUMMARY, TEST_RESULT, _test_result),
    "sbom": (layout.SBOM, CYCLONEDX, _sbom),
    "spdx": (layout.SPDX, SPDX, _sbom),
    "vulnerabilities": (layout.VULNERABILITIES, VULNERABILITIES, _vulnerabilities),
}
"""Kind of evidence → its file, its predicate type, and the function that builds the predicate."""
