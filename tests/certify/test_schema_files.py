"""The published schemas are generated from the code, and written documents match them."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from assay.certify import badge, schema_files
from assay.certify.bundle import bundle_manifest
from assay.certify.bundle.bundle_manifest import BundleManifest, ProfileReference, ServerIdentity
from assay.certify.bundle.manifest import Entry
from assay.certify.schema_files import HOME, TYPES, rendered
from assay.certify.summary import encode, summarise
from assay.certify.vulnerabilities import report as vulnerabilities
from assay.lab.harness.verdict import Verdict
from tests.certify.runs import CONTEXT, IDS, cell, checked, files, run
from tests.certify.test_metrics import RESULTS
from tests.certify.test_summary import JUDGED
from tests.certify.vulnerabilities.test_report import report

SUMMARY = encode(summarise(files(run(cell(checked(IDS, Verdict.FAILURE)))), CONTEXT, JUDGED, {}))
MANIFEST = bundle_manifest.encode(
    BundleManifest(
        v=1,
        server=ServerIdentity("a", "1"),
        artifact=None,
        profile=ProfileReference("p", "ab" * 32),
        created="2030-01-01T00:00:00Z",
        expires="2030-01-02T00:00:00Z",
        roles={},
        files=(Entry("a", "ab" * 32, 1),),
    )
)
WRITTEN = {
    "summary": SUMMARY,
    "badge": badge.badge(SUMMARY),
    "shields": badge.shields(SUMMARY),
    "manifest": MANIFEST,
    "metrics": RESULTS,
    "vulnerabilities": vulnerabilities.encode(report()),
}


def validator(name: str) -> Any:
    return jsonschema_rs.validator_for(json.loads((HOME / f"{name}.schema.json").read_bytes()))


def test_there_is_a_schema_for_every_type() -> None:
    assert {path.name for path in HOME.iterdir()} == {f"{name}.schema.json" for name in TYPES}
    assert WRITTEN.keys() == TYPES.keys()


@pytest.mark.parametrize("name", TYPES)
def test_the_published_schema_is_generated_from_the_code(name: str) -> None:
    """`python -m assay.certify.schema_files` regenerates them."""
    assert (HOME / f"{name}.schema.json").read_bytes() == rendered(name)


@pytest.mark.parametrize("name", TYPES)
def test_written_documents_match_their_schema(name: str) -> None:
    validator(name).validate(json.loads(WRITTEN[name]))


@pytest.mark.parametrize("name", TYPES)
def test_other_documents_do_not_match(name: str) -> None:
    assert not validator(name).is_valid({"no": "such thing"})


def test_digests_are_hexadecimal_in_every_dialect() -> None:
    broken = json.loads(MANIFEST)
    broken["profile"]["sha256"] = "x" * 64
    assert not validator("manifest").is_valid(broken)


def test_schemas_are_written_to_their_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_files, "HOME", tmp_path)
    schema_files.write()
    assert len(list(tmp_path.iterdir())) == len(TYPES)
