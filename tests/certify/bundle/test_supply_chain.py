"""The supply chain of any server: SBOMs made elsewhere, npm trees, and provenance of the artifact."""

import base64
import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from assay.certify import evidence
from assay.certify.bundle import layout, provenance, sbom
from assay.certify.bundle.bundle_manifest import Artifact
from assay.certify.bundle.inventory import listed_packages
from assay.certify.bundle.node_tree import BadTree, digests_of, read_tree
from assay.certify.bundle.provenance import BadProvenance
from assay.certify.bundle.sbom import BadSbom
from assay.certify.bundle.supply_chain import SupplyChain, examine
from assay.certify.scoring import Evidence
from assay.lab.harness.verdict import Verdict

NOW = datetime(2030, 1, 1, tzinfo=UTC)
WHEEL = b"the artifact"
ARTIFACT = Artifact("server.whl", sha256(WHEEL).hexdigest())
INTEGRITY = f"sha512-{base64.b64encode(bytes(64)).decode()}"
LOCK: dict[str, Any] = {
    "name": "server",
    "lockfileVersion": 3,
    "packages": {
        "": {"name": "server", "version": "1.0.0"},
        "node_modules/zod": {"version": "3.1.0", "license": "MIT", "integrity": INTEGRITY},
        "node_modules/@scope/sdk": {"version": "2.0.0", "license": "MIT", "dependencies": {"zod": "^3"}},
        "node_modules/@scope/sdk/node_modules/zod": {"version": "3.0.0", "license": "MIT"},
        "node_modules/fsevents": {"version": "2.3.3", "optional": True, "os": ["darwin"]},
    },
}
INSTALLED = {
    "node_modules/zod": ("zod", "3.1.0"),
    "node_modules/@scope/sdk": ("@scope/sdk", "2.0.0"),
    "node_modules/@scope/sdk/node_modules/zod": ("zod", "3.0.0"),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "package-lock.json").write_text(json.dumps(LOCK))
    for path, (name, version) in INSTALLED.items():
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "package.json").write_text(json.dumps({"name": name, "version": version}))
        (tmp_path / path / "lib").mkdir()
        (tmp_path / path / "lib" / "package.json").write_text('{"type": "module"}')
    return tmp_path


def judged(chain: SupplyChain, artifact: Artifact | None = None) -> dict[str, Evidence]:
    return examine(chain, artifact, NOW).evidence


def spdx(*packages: tuple[str, str]) -> dict[str, Any]:
    return {
        "spdxVersion": "SPDX-2.3",
        "SPDXID": "SPDXRef-DOCUMENT",
        "dataLicense": "CC0-1.0",
        "name": "server",
        "documentNamespace": "https://example.org/sbom/1",
        "creationInfo": {"created": "2030-01-01T00:00:00Z", "creators": ["Tool: syft"]},
        "packages": [
            {
                "SPDXID": f"SPDXRef-{number}",
                "name": name,
                "versionInfo": version,
                "downloadLocation": "NOASSERTION",
                "licenseDeclared": "MIT",
                "externalRefs": [
                    {
                        "referenceCategory": "PACKAGE-MANAGER",
                        "referenceType": "purl",
                        "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@{version}",
                    }
                ],
            }
            for number, (name, version) in enumerate(packages)
        ],
    }


def test_an_npm_tree_is_described_with_digests_and_licences(tree: Path) -> None:
    result = examine(SupplyChain(npm=tree), None, NOW)
    assert result.evidence[evidence.SBOM].status is Verdict.SUCCESS
    packages = {
        (package.name, package.version): package for package in listed_packages(result.files[layout.SBOM])
    }
    assert packages.keys() == set(INSTALLED.values())
    assert packages["zod", "3.1.0"].has_digest and packages["zod", "3.1.0"].has_licence
    assert packages["@scope/sdk", "2.0.0"].purl == "pkg:npm/%40scope/sdk@2.0.0"


@pytest.mark.parametrize(
    ("packages", "status", "reason"),
    [
        ([*INSTALLED.values()], Verdict.SUCCESS, "all 3 installed packages are listed"),
        ([*INSTALLED.values(), ("fsevents", "2.3.3")], Verdict.SUCCESS, "installed packages are listed"),
        ([("zod", "3.1.0")], Verdict.FAILURE, "installed but not listed: @scope/sdk 2.0.0, zod 3.0.0"),
        ([*INSTALLED.values(), ("old", "1.0.0")], Verdict.FAILURE, "listed but not installed: old 1.0.0"),
    ],
)
def test_an_sbom_made_elsewhere_must_list_what_is_installed(
    tree: Path, packages: list[tuple[str, str]], status: Verdict, reason: str
) -> None:
    result = examine(SupplyChain(npm=tree, sbom=json.dumps(spdx(*packages)).encode()), None, NOW)
    assert (result.evidence[evidence.SBOM].status, layout.SPDX in result.files) == (status, True)
    assert reason in result.evidence[evidence.SBOM].reason


def test_an_sbom_that_cannot_be_compared_is_not_measured() -> None:
    chain = SupplyChain(sbom=json.dumps(spdx(("zod", "3.1.0"))).encode())
    entry = judged(chain)[evidence.SBOM]
    assert (entry.status, entry.options) == (Verdict.SKIPPED, ("--python", "--npm"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"spdxVersion": "SPDX-2.9"}, "/spdxVersion"),
        ({"dataLicense": "MIT"}, "/dataLicense"),
        ({"creationInfo": {"created": "now", "creators": ["Tool: x"]}}, "/creationInfo/created"),
        ({"packages": [{"name": "x"}]}, "/packages/0"),
        ({"packages": spdx(("a", "1"))["packages"] * 2}, "the same SPDXID"),
    ],
)
def test_an_invalid_spdx_document_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadSbom, match=problem):
        sbom.validate(json.dumps({**spdx(("a", "1")), **change}).encode())


@pytest.mark.parametrize("edition", sbom.EDITIONS)
def test_every_edition_of_cyclonedx_is_read(edition: str) -> None:
    document = {"bomFormat": "CycloneDX", "specVersion": edition, "version": 1, "components": []}
    sbom.validate(json.dumps(document).encode())
    with pytest.raises(BadSbom, match=f"not a CycloneDX {edition} SBOM: /components"):
        sbom.validate(json.dumps({**document, "components": [{"name": 1}]}).encode())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not a lock file"),
        ('{"lockfileVersion": 1, "dependencies": {}}', "is not a lock file|not of version 2 or 3"),
        ('{"lockfileVersion": 3, "packages": {"node_modules/a": {}}}', "not a lock file"),
    ],
)
def test_another_lock_file_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "package-lock.json").write_text(text)
    with pytest.raises(BadTree, match=problem):
        read_tree(tmp_path)


def test_a_tree_that_is_not_installed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "package-lock.json").write_text(json.dumps(LOCK))
    with pytest.raises(BadTree, match="run `npm ci` there first"):
        examine(SupplyChain(npm=tmp_path), None, NOW)


def test_integrity_is_a_digest() -> None:
    assert digests_of(f"{INTEGRITY} md5-AA== sha1-!") == {"SHA-512": "00" * 64}


def envelope(artifact: bytes = WHEEL, **changed: Any) -> bytes:
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "server.whl", "digest": {"sha256": sha256(artifact).hexdigest()}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {"runDetails": {"builder": {"id": "https://builder.example"}}},
    }
    payload = base64.b64encode(json.dumps({**statement, **changed}).encode()).decode()
    signatures = [{"keyid": "k", "sig": "AA=="}]
    document = {"payload": payload, "payloadType": "application/vnd.in-toto+json", "signatures": signatures}
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "data",
    [
        envelope(),
        envelope(b"other") + b"\n" + envelope(),
        json.dumps({"mediaType": "bundle", "dsseEnvelope": json.loads(envelope())}).encode(),
    ],
)
def test_provenance_names_the_artifact(data: bytes) -> None:
    result = examine(SupplyChain(attestation=data), ARTIFACT, NOW)
    entry = result.evidence[evidence.PROVENANCE]
    assert (entry.status, entry.reason) == (
        Verdict.SUCCESS,
        "server.whl was built by https://builder.example",
    )
    assert result.files[layout.PROVENANCE] == data


@pytest.mark.parametrize(
    ("artifact", "data"), [(ARTIFACT, envelope(b"another artifact")), (None, envelope())]
)
def test_provenance_of_another_artifact_fails(artifact: Artifact | None, data: bytes) -> None:
    assert judged(SupplyChain(attestation=data), artifact)[evidence.PROVENANCE].status is Verdict.FAILURE


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (b"[]", "not an attestation"),
        (b"no JSON", "not an attestation"),
        (envelope(predicateType="https://example.org/x"), "is not SLSA provenance"),
        (envelope(_type="x"), "is not an in-toto statement"),
        (envelope(subject=[{"name": "x"}]), "not an attestation"),
        (envelope().replace(b'[{"keyid": "k", "sig": "AA=="}]', b"[]"), "not signed"),
        (envelope().replace(b"vnd.in-toto", b"vnd.other"), "not an in-toto statement"),
        (b"\n".join([envelope()] * 65), "more than 64"),
    ],
)
def test_what_is_no_provenance_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(BadProvenance, match=problem):
        provenance.read(data)
