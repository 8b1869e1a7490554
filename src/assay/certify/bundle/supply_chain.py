"""The supply chain of a server: its SBOM, known vulnerabilities, and where its artifact comes from."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from assay.certify import evidence
from assay.certify.evidence import Installed
from assay.certify.scoring import Evidence
from assay.certify.vulnerabilities import osv
from assay.certify.vulnerabilities import report as vulnerabilities

from . import environment, layout, sbom
from .bundle_manifest import Artifact
from .environment import Environment
from .inventory import Key, SbomFormat, format_of
from .node_tree import NodeTree, read_tree


class SupplyChain(Struct, frozen=True):
    """What is given about it, already validated."""

    python: Path | None = None
    npm: Path | None = None
    """A directory with `package-lock.json`."""
    sbom: bytes | None = None
    """Made elsewhere; compared with what is installed."""
    osv: Path | None = None
    waived: tuple[str, ...] = ()
    attestation: bytes | None = None


class SupplyEvidence(Struct, frozen=True):
    evidence: dict[str, Evidence]
    files: dict[str, bytes]


def examine(chain: SupplyChain, artifact: Artifact | None, created: datetime) -> SupplyEvidence:
    """
    Raises:
        BadEnvironment, BadTree, BadSbom: what is installed cannot be read.
        BadExport: the OSV export cannot be read.
    """
    bill = chain.sbom or _describe(chain, created)
    judged = {evidence.PROVENANCE: evidence.not_measured(evidence.NO_ATTESTATION)}
    files: dict[str, bytes] = {}
    if chain.attestation is not None:
        files[layout.PROVENANCE] = chain.attestation
        judged[evidence.PROVENANCE] = evidence.judge_provenance(chain.attestation, artifact)
    if bill is None:
        missing = evidence.not_measured(evidence.NO_PYTHON)
        return SupplyEvidence({**judged, evidence.SBOM: missing, evidence.VULNERABILITIES: missing}, files)
    files[layout.SPDX if format_of(bill) is SbomFormat.SPDX else layout.SBOM] = bill
    # Inspected a second time, so that the SBOM is compared with what is installed, not with its own source.
    judged[evidence.SBOM] = evidence.judge_sbom(bill, installed(chain))
    scan = osv.scan(bill, chain.osv)
    if scan is None:
        judged[evidence.VULNERABILITIES] = evidence.not_measured(evidence.NO_EXPORT)
        return SupplyEvidence(judged, files)
    report = vulnerabilities.encode(vulnerabilities.describe(scan, chain.waived))
    files[layout.VULNERABILITIES] = report
    judged[evidence.VULNERABILITIES] = evidence.judge_vulnerabilities(report, created, judged[evidence.SBOM])
    return SupplyEvidence(judged, files)


def _describe(chain: SupplyChain, created: datetime) -> bytes | None:
    if chain.python is None and chain.npm is None:
        return None
    packages = None if chain.python is None else environment.inspect(chain.python)
    tree = None if chain.npm is None else read_tree(chain.npm)
    return sbom.describe(packages, serial=uuid4(), time=created, tree=tree)


def installed(chain: SupplyChain) -> Installed:
    """What is installed in the environments that are named."""
    packages: set[Key] = set()
    kinds: set[str] = set()
    absent: set[Key] = set()
    if chain.python is not None:
        packages |= python_keys(environment.inspect(chain.python))
        kinds.add("pypi")
    if chain.npm is not None:
        tree = read_tree(chain.npm)
        packages |= {("npm", name, version) for name, version in tree.installed}
        absent |= absent_keys(tree)
        kinds.add("npm")
    return Installed(frozenset(packages), frozenset(kinds), frozenset(absent))


def python_keys(packages: Environment) -> set[Key]:
    return {("pypi", package.key, package.version) for package in packages.distributions}


def absent_keys(tree: NodeTree) -> set[Key]:
    return {("npm", package.name, package.version) for package in tree.packages if package.may_be_absent}
