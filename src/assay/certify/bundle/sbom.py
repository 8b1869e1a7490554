"""A CycloneDX 1.6 SBOM of a Python environment: its packages, what they depend on, and the interpreter."""

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
    """This is no CycloneDX 1.6 document; the text says where."""


def describe(environment: Environment, *, serial: UUID, time: datetime) -> bytes:
    """The same environment, serial number and time give the same bytes.

    Raises:
        BadSbom: what is installed makes no valid document.
    """
    components = {one.key: _component(one) for one in environment.distributions}
    bom = Bom(
        serial_number=serial,
        components=[_interpreter(environment), *components.values()],
        metadata=BomMetaData(timestamp=time, tools=ToolRepository(components=[_ourselves()])),
    )
    for key, needed in dependencies(environment).items():
        bom.register_dependency(components[key], [components[one] for one in needed])
    data = JsonV1Dot6(bom).output_as_string(indent=2).encode() + b"\n"
    validate(data)
    return data


def validate(data: bytes) -> None:
    """
    Raises:
        BadSbom: the schema of CycloneDX 1.6, at its strictest, does not allow it.
    """
    try:
        document = json.loads(data.decode())
        fault = next(_validator().iter_errors(document), None)
    except (ValueError, RecursionError) as error:
        raise BadSbom(f"no SBOM: {error}") from error
    if fault is not None:
        path = "/".join(map(str, fault.instance_path))
        raise BadSbom(f"no CycloneDX 1.6 SBOM: /{path}: {fault.message[:200]}")
    if document["specVersion"] != EDITION:  # the schema takes any
        raise BadSbom(f"no CycloneDX {EDITION} SBOM: its specVersion is {document['specVersion']!r}")


@cache
def _validator() -> jsonschema_rs.Draft7Validator:
    """By the schema that comes with the library. Its own validator takes minutes for thousands of components,
    as it holds each against all others: whoever sends an SBOM could keep a verifier busy."""
    return jsonschema_rs.Draft7Validator(_schema(SCHEMA), retriever=_schema, validate_formats=True)


def _schema(uri: str) -> Any:
    return json.loads((files("cyclonedx.schema") / "_res" / uri.rpartition("/")[2]).read_bytes())


def _component(one: Distribution) -> Component:
    purl = PackageURL("pypi", name=one.key, version=one.version)
    return Component(
        name=one.name, version=one.version, type=ComponentType.LIBRARY, purl=purl, bom_ref=str(purl)
    )


def _interpreter(environment: Environment) -> Component:
    name, release = (environment.markers[one] for one in ("implementation_name", "python_full_version"))
    return Component(name=name, version=release, type=ComponentType.PLATFORM, bom_ref=f"{name}@{release}")


def _ourselves() -> Component:
    return Component(name="assay", version=VERSION, type=ComponentType.APPLICATION)
