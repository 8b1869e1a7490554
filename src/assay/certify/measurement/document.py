"""A measurement, as a provider returns it and as a bundle stores it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from assay.certify.bundle import layout
from assay.certify.profile_list import Demand
from assay.certify.scoring import Evidence
from assay.lab.harness.reason import Reason
from assay.lab.harness.verdict import Verdict
from assay.signing import canonical, dsse
from assay.signing.keys import SigningKey

PAYLOAD_TYPE: Final = "application/vnd.assay.measurement+json"
MAX_DOCUMENT: Final = 1024 * 1024
MAX_FILE: Final = 16 * 1024 * 1024
MAX_FILES: Final = 64
BENCHMARK: Final = "BENCH-"
"""The prefix of the demands whose measurements a harness signs."""

Figure = Annotated[float, Meta(ge=-1e15, le=1e15)]
Text = Annotated[str, Meta(max_length=1024)]


class BadMeasurement(ValueError):
    """A measurement is invalid; the message names the demand and the cause."""


class Measurement(Struct, frozen=True, kw_only=True):
    demand: str
    figures: Mapping[str, float]
    """The numbers that the limits of the profile are about, and others that are worth showing."""
    facts: Mapping[str, str] = {}
    """How it was measured, for people."""
    problem: str = ""
    """Why the demand is not met, whatever the figures say."""
    files: Mapping[str, bytes] = {}
    """The raw data, by names without directories."""


class NotMeasured(Struct, frozen=True):
    demand: str
    reason: Reason


class RawFile(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")]
    sha256: str


class MeasurementDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """`measurements/<demand>.json`, or the payload of the envelope there."""

    v: Literal[1]
    demand: str
    figures: Annotated[dict[str, Figure], Meta(max_length=256)]
    facts: Annotated[dict[str, Text], Meta(max_length=64)]
    problem: Text
    files: Annotated[list[RawFile], Meta(max_length=MAX_FILES)]


def document_name(demand: str) -> str:
    return f"{layout.MEASUREMENTS}{demand}.json"


def raw_name(demand: str, name: str) -> str:
    return f"{layout.MEASUREMENTS}{demand}/{name}"


def as_files(measurement: Measurement, key: SigningKey | None) -> dict[str, bytes]:
    """The files of a measurement in a bundle. A benchmark is signed with the harness's key, if there is one.

    Raises:
        BadMeasurement: a figure, name or file is not allowed.
    """
    files = {raw_name(measurement.demand, name): data for name, data in measurement.files.items()}
    large = [name for name, data in files.items() if len(data) > MAX_FILE]
    if large:
        raise BadMeasurement(f"{large[0]} exceeds the limit of {MAX_FILE} bytes")
    raw = [RawFile(name, sha256(data).hexdigest()) for name, data in sorted(measurement.files.items())]
    figures = {name: float(value) for name, value in measurement.figures.items()}
    document = MeasurementDocument(
        1, measurement.demand, figures, dict(measurement.facts), measurement.problem, raw
    )
    encoded = msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2) + b"\n"
    read(encoded, measurement.demand)
    if key is not None and measurement.demand.startswith(BENCHMARK):
        encoded = dsse.sign(encoded, key, PAYLOAD_TYPE)
    return {document_name(measurement.demand): encoded, **files}


def read(data: bytes, demand: str) -> MeasurementDocument:
    """
    Raises:
        BadMeasurement: the data is not the document of this demand.
    """
    if len(data) > 2 * MAX_DOCUMENT:
        raise BadMeasurement(f"the measurement of {demand} exceeds the limit of {MAX_DOCUMENT} bytes")
    try:
        document = msgspec.json.decode(_payload(data), type=MeasurementDocument)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadMeasurement(f"not a measurement of {demand}: {error}") from error
    if document.demand != demand:
        raise BadMeasurement(f"a measurement of {document.demand}, not of {demand}")
    return document


def _payload(data: bytes) -> bytes:
    """The payload of an envelope, unverified; data without an envelope is returned unchanged."""
    try:
        return base64.b64decode(canonical.decode(data)["payload"], validate=True)
    except (ValueError, KeyError, TypeError):
        return data


def stored_documents(files: Mapping[str, bytes], demands: Iterable[str]) -> dict[str, MeasurementDocument]:
    """The documents among the files of a bundle, by demand.

    Raises:
        BadMeasurement: one is invalid.
    """
    names = {demand: document_name(demand) for demand in demands}
    return {demand: read(files[name], demand) for demand, name in names.items() if name in files}


def judge(demand: Demand, document: MeasurementDocument) -> Evidence:
    """Compare the figures with the limits of the demand."""
    if document.problem:
        return Evidence(Verdict.FAILURE, document.problem)
    missing = [limit.figure for limit in demand.limit if limit.figure not in document.figures]
    if missing or not demand.limit:
        return Evidence(Verdict.SKIPPED, f"the measurement has no figure {', '.join(missing)}".rstrip())
    values = [(limit, document.figures[limit.figure]) for limit in demand.limit]
    exceeded = [(limit, value) for limit, value in values if not limit.holds(value)]
    broken = [f"{limit.figure} is {value:g}, not {limit}" for limit, value in exceeded]
    if broken:
        return Evidence(Verdict.FAILURE, "; ".join(broken))
    return Evidence(
        Verdict.SUCCESS, ", ".join(f"{limit.figure} {value:g} ({limit})" for limit, value in values)
    )
