"""The SBOM of an environment."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from assay.certify.bundle.environment import Environment, inspect
from assay.certify.bundle.sbom import BadSbom, describe, validate
from tests.certify.environments import environment, installed

SERIAL = UUID("3e671687-395b-41f5-a30f-a58921a69b79")
TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SMALL = environment(installed("A.b", "c"), installed("c", version="2.0"))


def described(packages: Environment) -> bytes:
    return describe(packages, serial=SERIAL, time=TIME)


def test_components_and_what_they_depend_on() -> None:
    bom: dict[str, Any] = json.loads(described(SMALL))
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    assert (bom["serialNumber"], bom["metadata"]["timestamp"]) == (SERIAL.urn, TIME.isoformat())
    assert {(entry["type"], entry["name"], entry.get("purl")) for entry in bom["components"]} == {
        ("library", "A.b", "pkg:pypi/a-b@1.0"),
        ("library", "c", "pkg:pypi/c@2.0"),
        ("platform", "cpython", None),
    }
    edges = {entry["ref"]: entry.get("dependsOn") for entry in bom["dependencies"]}
    assert edges["pkg:pypi/a-b@1.0"] == ["pkg:pypi/c@2.0"]
    assert edges["pkg:pypi/c@2.0"] is None


def test_the_same_environment_gives_the_same_bytes() -> None:
    backwards = Environment(SMALL.markers, tuple(reversed(SMALL.distributions)))
    assert described(SMALL) == described(backwards) == described(SMALL)


def test_a_real_environment_has_a_valid_sbom() -> None:
    packages = inspect(Path(sys.executable))
    bom: dict[str, Any] = json.loads(described(packages))
    assert len(bom["components"]) == len(packages.distributions) + 1
    edges = {entry["ref"]: entry.get("dependsOn", []) for entry in bom["dependencies"]}
    assay = next(ref for ref in edges if ref.startswith("pkg:pypi/assay"))
    assert any(ref.startswith("pkg:pypi/msgspec@") for ref in edges[assay])


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"\xff", "not an SBOM"),
        (b"{", "not an SBOM"),
        (b"[" * 100_000, "not an SBOM"),
        (b'{"bomFormat":"CycloneDX"}', "specVersion"),
        (b'{"bomFormat":"CycloneDX","specVersion":"1.6","more":1}', "more"),
        (
            b'{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"name":"a"}]}',
            "/components/0: .*type",
        ),
    ],
    ids=["bytes", "cut", "deep", "no version", "more", "no type"],
)
def test_an_invalid_sbom(data: bytes, cause: str) -> None:
    with pytest.raises(BadSbom, match=cause):
        validate(data)
