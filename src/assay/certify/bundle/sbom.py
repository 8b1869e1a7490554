"""A CycloneDX 1.6 SBOM of a Python environment: packages, dependencies and the interpreter."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final
from uuid import UUID

import jsonschema_rs
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from assay.model.version import VERSION

from .environment import Distribution, Environment, dependencies

EDITION: Final = "1.6"
SCHEMA: Final = "bom-1.6.SNAPSHOT.schema.json"


class BadSbom(ValueError):
    """Not a valid CycloneDX 1.6 document; the message says where."""


def describe(environment: Environment, *, serial: UUID, time: datetime) -> bytes:
    """Encode an SBOM; the same environment, serial number and time give the same bytes.

    Raises:
        BadSbom: the installed packages do not form a valid document.
    """
    components = {package.key: _component(package) for package in environment.distributions}
    bom = Bom(
        serial_number=serial,
        components=[_interpreter(environment), *components.values()],
        metadata=BomMetaData(timestamp=time, tools=ToolRepository(components=[_assay()])),
    )
    for key, needed in dependencies(environment).items():
        bom.register_dependency(components[key], [components[name] for name in needed])
    data = JsonV1Dot6(bom).output_as_string(indent=2).encode() + b"\n"
    validate(data)
    return data


def validate(data: bytes) -> None:
    """
    Raises:
        BadSbom: the document does not match the strict schema of CycloneDX 1.6.
    """
    try:
        document = json.loads(data.decode())
        fault = next(_validator().iter_errors(document), None)
    except (ValueError, RecursionError) as error:
        raise BadSbom(f"not an SBOM: {error}") from error
    if fault is not None:
        path = "/".join(map(str, fault.instance_path))
        raise BadSbom(f"not a CycloneDX {EDITION} SBOM: /{path}: {fault.message[:200]}")
    if document["specVersion"] != EDITION:  # the schema allows any
        raise BadSbom(f"not a CycloneDX {EDITION} SBOM: its specVersion is {document['specVersion']!r}")


@cache
def _validator() -> jsonschema_rs.Draft7Validator:
    """The schema comes from the library. The library's own validator compares every component with all
    others, so a large SBOM could keep a verifier busy for minutes."""
    return jsonschema_rs.Draft7Validator(_schema(SCHEMA), retriever=_schema, validate_formats=True)


def _schema(uri: str) -> Any:
    return json.loads((files("cyclonedx.schema") / "_res" / uri.rpartition("/")[2]).read_bytes())


def _component(package: Distribution) -> Component:
    purl = PackageURL("pypi", name=package.key, version=package.version)
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        purl=purl,
        bom_ref=str(purl),
    )


def _interpreter(environment: Environment) -> Component:
    name, release = (environment.markers[key] for key in ("implementation_name", "python_full_version"))
    return Component(name=name, version=release, type=ComponentType.PLATFORM, bom_ref=f"{name}@{release}")


def _assay() -> Component:
    return Component(name="assay", version=VERSION, type=ComponentType.APPLICATION)
