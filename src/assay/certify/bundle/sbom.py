"""A CycloneDX 1.6 SBOM of a Python environment, a Node tree or both: packages, dependencies, interpreter.

An installed Python package has the digest of its RECORD, which lists the digest of each of its files; an npm
package has the digest of the published archive, from the lock file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final
from uuid import UUID

import jsonschema_rs
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from assay.model.version import VERSION

from . import spdx
from .environment import Distribution, Environment, dependencies
from .inventory import SbomFormat, format_of
from .node_tree import NodePackage, NodeTree

EDITION: Final = "1.6"
EDITIONS: Final = ("1.2", "1.3", "1.4", "1.5", "1.6", "1.7")
"""Of documents that are read."""
LARGEST: Final = 64 * 1024 * 1024


class BadSbom(ValueError):
    """Not a valid SBOM; the message says where."""


def describe(
    environment: Environment | None, *, serial: UUID, time: datetime, tree: NodeTree | None = None
) -> bytes:
    """Encode an SBOM; the same packages, serial number and time give the same bytes.

    Raises:
        BadSbom: the installed packages do not form a valid document.
        BadTree: the Node tree is not installed.
    """
    bom = Bom(
        serial_number=serial,
        metadata=BomMetaData(timestamp=time, tools=ToolRepository(components=[_assay()])),
    )
    if environment is not None:
        _add_environment(bom, environment)
    if tree is not None:
        _add_tree(bom, tree)
    data = JsonV1Dot6(bom).output_as_string(indent=2).encode() + b"\n"
    validate(data)
    return data


def _add_environment(bom: Bom, environment: Environment) -> None:
    components = {package.key: _component(package) for package in environment.distributions}
    bom.components.update([_interpreter(environment), *components.values()])
    for key, needed in dependencies(environment).items():
        bom.register_dependency(components[key], [components[name] for name in needed])


def _add_tree(bom: Bom, tree: NodeTree) -> None:
    installed = tree.installed
    chosen = [package for package in tree.packages if (package.name, package.version) in installed]
    components = {(package.name, package.version): _node_component(package) for package in chosen}
    by_name = {name: component for (name, _), component in sorted(components.items())}
    bom.components.update(components.values())
    for package in chosen:
        needed = [by_name[name] for name in package.requires if name in by_name]
        bom.register_dependency(components[package.name, package.version], needed)


def validate(data: bytes) -> None:
    """
    Raises:
        BadSbom: the document is neither valid CycloneDX nor valid SPDX.
    """
    if len(data) > LARGEST:
        raise BadSbom(f"not an SBOM: {len(data)} bytes exceed the limit of {LARGEST}")
    match format_of(data):
        case SbomFormat.CYCLONEDX:
            _validate_cyclonedx(data)
        case SbomFormat.SPDX:
            try:
                spdx.validate(data)
            except spdx.BadSpdx as error:
                raise BadSbom(str(error)) from error
        case None:
            raise BadSbom("not an SBOM: neither CycloneDX nor SPDX 2 in JSON")


def _validate_cyclonedx(data: bytes) -> None:
    document = json.loads(data)
    edition = document.get("specVersion")
    if edition not in EDITIONS:
        raise BadSbom(f"not a CycloneDX SBOM: its specVersion is {edition!r}")
    try:
        fault = next(_validator(edition).iter_errors(document), None)
    except (ValueError, RecursionError) as error:
        raise BadSbom(f"not an SBOM: {error}") from error
    if fault is not None:
        path = "/".join(map(str, fault.instance_path))
        raise BadSbom(f"not a CycloneDX {edition} SBOM: /{path}: {fault.message[:200]}")


@cache
def _validator(edition: str) -> jsonschema_rs.Draft7Validator:
    """The schema comes from the library. The library's own validator compares every component with all
    others, so a large SBOM could keep a verifier busy for minutes."""
    strict = "-strict" if edition in ("1.2", "1.3") else ""
    schema = _schema(f"bom-{edition}{strict}.SNAPSHOT.schema.json")
    return jsonschema_rs.Draft7Validator(schema, retriever=_schema, validate_formats=True)


def _schema(uri: str) -> Any:
    return json.loads((files("cyclonedx.schema") / "_res" / uri.rpartition("/")[2]).read_bytes())


def _component(package: Distribution) -> Component:
    purl = PackageURL("pypi", name=package.key, version=package.version)
    digests = {"SHA-256": package.record_sha256} if package.record_sha256 else {}
    return _library(package.name, package.version, purl, package.licence, digests)


def _node_component(package: NodePackage) -> Component:
    namespace, _, name = package.name.rpartition("/")
    purl = PackageURL("npm", namespace=namespace or None, name=name, version=package.version)
    return _library(package.name, package.version, purl, package.licence, package.digests)


def _library(
    name: str, version: str, purl: PackageURL, licence: str, digests: Mapping[str, str]
) -> Component:
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        purl=purl,
        bom_ref=str(purl),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm(kind), content=digest) for kind, digest in digests.items()],
    )


def _interpreter(environment: Environment) -> Component:
    name, release = (environment.markers[key] for key in ("implementation_name", "python_full_version"))
    return Component(name=name, version=release, type=ComponentType.PLATFORM, bom_ref=f"{name}@{release}")


def _assay() -> Component:
    return Component(name="assay", version=VERSION, type=ComponentType.APPLICATION)
