"""The attestations of a bundle: an in-toto statement for each piece of evidence with a predicate of its own.

A statement is made from the evidence, and nothing else: whoever verifies makes it again, and finds the same.
Its subjects are the file and, where one is named, the artifact that the evidence is about.
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
VULNERABILITIES: Final = "https://in-toto.io/attestation/vulns/v0.2"
SCANNER: Final = "pkg:pypi/assay-mcp"


@dataclass(frozen=True)
class Occasion:
    """What the statements of one bundle have in common."""

    profile_id: str
    created: str
    artifact: Artifact | None


Files = Mapping[str, bytes]
Predicate = Callable[[dict[str, Any], Files, Occasion], dict[str, Any]]


def claims(files: Files, occasion: Occasion) -> dict[str, Statement]:
    """What is stated about these files, by the names of the envelopes.

    Raises:
        BadManifest: evidence is no JSON object of the form that it should have.
    """
    return {
        f"{layout.ATTESTATIONS}{kind}{layout.ENVELOPE}": _claim(
            source, predicate_type, predicate, files, occasion
        )
        for kind, (source, predicate_type, predicate) in KINDS.items()
        if source in files
    }


def sign(claimed: Statement, key: SigningKey) -> bytes:
    """
    Raises:
        BadManifest: the evidence holds what a statement cannot say.
    """
    try:
        return dsse.sign(encode(claimed), key)
    except BadStatement as error:
        raise BadManifest(str(error)) from error


def _claim(
    source: str, predicate_type: str, predicate: Predicate, files: Files, occasion: Occasion
) -> Statement:
    data = files[source]
    subjects = {source: sha256(data).hexdigest()}
    if occasion.artifact is not None:
        if occasion.artifact.name in subjects:
            raise BadManifest(f"the artifact has the name of evidence, {source}: rename it")
        subjects[occasion.artifact.name] = occasion.artifact.sha256
    try:
        return statement(subjects, predicate_type, predicate(json.loads(data), files, occasion))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadManifest(f"{source} is not of the form that can be attested: {error!r}") from error


def _test_result(summary: dict[str, Any], files: Files, occasion: Occasion) -> dict[str, Any]:
    """A demand counts once it is scored. Where too little was measured, nothing has passed."""
    passed, warned, failed = (list(_scored(summary, status)) for status in ("SUCCESS", "WARNING", "FAILURE"))
    clean = "WARNED" if warned else "PASSED"
    list_digest = {"sha256": sha256(files[layout.PROFILE]).hexdigest()}
    return {
        "result": clean if summary["conclusion"] == "met" else "FAILED",
        "configuration": [{"name": occasion.profile_id, "digest": list_digest}],
        "passedTests": passed,
        "warnedTests": warned,
        "failedTests": failed,
    }


def _scored(summary: dict[str, Any], status: str) -> Iterator[str]:
    return (str(one["id"]) for one in summary["checks"] if one["scored"] and one["status"] == status)


def _bill(document: dict[str, Any], files: Files, occasion: Occasion) -> dict[str, Any]:
    return document


def _vulnerabilities(report: dict[str, Any], files: Files, occasion: Occasion) -> dict[str, Any]:
    export = {"uri": f"sha256:{report['exportSha256']}", "lastUpdate": report["newest"]}
    found = [{"id": one["id"], "severity": one.get("severity", [])} for one in report["findings"]]
    return {
        "scanner": {"uri": SCANNER, "db": export, "result": found},
        "metadata": {"scanStartedOn": occasion.created, "scanFinishedOn": occasion.created},
    }


KINDS: Final[Mapping[str, tuple[str, str, Predicate]]] = {
    "summary": (layout.SUMMARY, TEST_RESULT, _test_result),
    "sbom": (layout.SBOM, CYCLONEDX, _bill),
    "vulnerabilities": (layout.VULNERABILITIES, VULNERABILITIES, _vulnerabilities),
}
"""Kind of evidence → its file, the type of its predicate, and how that is made of it."""
