"""The JSON Schemas of the files of a certification, in `schemas/`, generated from the types.

python -m assay.certify.schema_files    regenerates them; a test compares
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from assay.certify.bundle.bundle_manifest import BundleManifest
from assay.certify.vulnerabilities.report import VulnerabilityReport

from .badge import Badge, Shields
from .metrics import Results
from .summary_form import Summary

HOME: Final = Path(__file__).parent / "schemas"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TYPES: Final[Mapping[str, Any]] = {
    "summary": Summary,
    "badge": Badge,
    "shields": Shields,
    "manifest": BundleManifest,
    "metrics": Results,
    "vulnerabilities": VulnerabilityReport,
}
"""`manifest` is the payload of the envelope `MANIFEST.json`; `metrics` may also be in an envelope."""


def schema(name: str) -> dict[str, Any]:
    # JSON Schema patterns are ECMAScript, which has no \A and \Z.
    return {"$schema": DIALECT, "title": name, **_ecmascript(msgspec.json.schema(TYPES[name]))}


def _ecmascript(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _anchored(member) if key == "pattern" and isinstance(member, str) else _ecmascript(member)
            for key, member in value.items()
        }
    return [_ecmascript(item) for item in value] if isinstance(value, list) else value


def _anchored(pattern: str) -> str:
    return pattern.replace(r"\A", "^").replace(r"\Z", "$")


def rendered(name: str) -> bytes:
    return msgspec.json.format(msgspec.json.encode(schema(name)), indent=2) + b"\n"


def write() -> None:
    for name in TYPES:
        (HOME / f"{name}.schema.json").write_bytes(rendered(name))


if __name__ == "__main__":
    write()
