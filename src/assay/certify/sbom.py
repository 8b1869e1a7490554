"""A CycloneDX 1.6 SBOM of a Python environment: its packages, what they depend on, and the interpreter."""

from __future__ import annotations

import json
from datetime import datetime
from importlib.metadata import version
from typing import Final
from uuid import UUID

from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from .environment import Distribution, Environment, dependencies

EDITION: Final = "1.6"


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
        fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(data.decode())
        edition = json.loads(data).get("specVersion") if fault is None else None
    except (ValueError, RecursionError) as error:
        raise BadSbom(f"no SBOM: {error}") from error
    if fault is not None:
        path = "/".join(map(str, fault.data.absolute_path))
        raise BadSbom(f"no CycloneDX 1.6 SBOM: /{path}: {fault.data.message[:200]}")
    if edition != EDITION:  # the schema takes any
        raise BadSbom(f"no CycloneDX {EDITION} SBOM: its specVersion is {edition!r}")


def _component(one: Distribution) -> Component:
    purl = PackageURL("pypi", name=one.key, version=one.version)
    return Component(
        name=one.name, version=one.version, type=ComponentType.LIBRARY, purl=purl, bom_ref=str(purl)
    )


def _interpreter(environment: Environment) -> Component:
    name, release = (environment.markers[one] for one in ("implementation_name", "python_full_version"))
    return Component(name=name, version=release, type=ComponentType.PLATFORM, bom_ref=f"{name}@{release}")


def _ourselves() -> Component:
    return Component(name="assay", version=version("assay"), type=ComponentType.APPLICATION)
