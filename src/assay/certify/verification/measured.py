"""The measurements in a bundle: their raw data is complete, their signatures are good, and the figures follow
from the data where they can be computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from assay.certify.bundle import layout
from assay.certify.measurement.document import (
    PAYLOAD_TYPE,
    BadMeasurement,
    MeasurementDocument,
    document_name,
    raw_name,
    read,
)
from assay.certify.metrics import signer_named
from assay.certify.profile_list import BadProfile, MeasuredBy, shipped
from assay.certify.scope import declared_transports
from assay.certify.scoring import SCOPE
from assay.signing import dsse
from assay.signing.dsse import Role

from .evidence import UNTRUSTED, stored_summary
from .refusal import BundleRefused, Refusal, RefusalReason, not_signed, refuse
from .stored_bundle import StoredBundle

TOLERANCE = 1e-9
"""The relative difference of two figures that are the same."""


def measurements(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: a document or a raw file is not what the other says, or a signature is bad.
    """
    documents = _documents(bundle)
    if unnamed := [*_unnamed(bundle, documents)]:
        raise BundleRefused(unnamed)
    signers = [_signer(bundle, demand) for demand in documents]
    trusted = sorted({signer for signer in signers if signer})
    if trusted:
        bundle.harness = bundle.harness or trusted[0]
    note = f"{len(documents)} with their raw data" if documents else "none"
    return f"{note}; {signers.count('')} not signed by a trusted harness" if documents else note


def _documents(bundle: StoredBundle) -> dict[str, MeasurementDocument]:
    try:
        demands = shipped(bundle.manifest.profile.id).demands
    except BadProfile:
        return {}  # another step refuses it
    known = {demand.id for demand in demands if demand.by is MeasuredBy.MEASUREMENT}
    try:
        return {
            demand: read(bundle.content(document_name(demand)), demand)
            for demand in sorted(known)
            if document_name(demand) in bundle.entries
        }
    except BadMeasurement as error:
        raise refuse(RefusalReason.BAD_EVIDENCE, layout.MEASUREMENTS, error) from error


def _unnamed(bundle: StoredBundle, documents: dict[str, MeasurementDocument]) -> Iterator[Refusal]:
    """Files that no document names, or that are not the ones it names."""
    expected = {
        raw_name(demand, raw.name): raw.sha256
        for demand, document in documents.items()
        for raw in document.files
    }
    present = {name for name in bundle.entries if name.startswith(layout.MEASUREMENTS)}
    for name in sorted(present - expected.keys() - {document_name(demand) for demand in documents}):
        yield Refusal(RefusalReason.BAD_EVIDENCE, name, "no measurement of the profile names it")
    for name, digest in expected.items():
        if name not in present or bundle.entries[name].sha256 != digest:
            yield Refusal(RefusalReason.BAD_EVIDENCE, name, "not the data that was measured")


def _signer(bundle: StoredBundle, demand: str) -> str:
    """The id of the trusted harness that signed a document; empty if none did."""
    data = bundle.content(document_name(demand))
    if signer_named(data) is None:
        return ""
    try:
        return dsse.verify(data, bundle.trust, Role.HARNESS, PAYLOAD_TYPE).key_id
    except dsse.InvalidEnvelope as error:
        if error.reason not in UNTRUSTED:
            raise not_signed(error, document_name(demand)) from error
        return ""


def scope(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: the registry entry declares a transport that the scope leaves out.
    """
    chosen = stored_summary(bundle).scope or list(SCOPE)
    if layout.REGISTRY_ENTRY in bundle.entries and len(chosen) < len(SCOPE):
        others = declared_transports(bundle.content(layout.REGISTRY_ENTRY)) - set(chosen)
        if others:
            detail = f"its scope leaves out {', '.join(sorted(others))}, which the registry entry declares"
            raise refuse(RefusalReason.WRONG_SUMMARY, layout.SUMMARY, detail)
    return " and ".join(chosen)


def figures(bundle: StoredBundle) -> str:
    """Compute the figures from the raw data again.

    Raises:
        BundleRefused: a figure is another one.
    """
    from assay.certify.providers import providers

    owners = {demand: provider for provider in providers() for demand in provider.demands}
    again, wrong = 0, []
    for demand, document in _documents(bundle).items():
        raw = {part.name: bundle.content(raw_name(demand, part.name)) for part in document.files}
        try:
            computed = owners[demand].figures(demand, raw) if demand in owners else None
        except (ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
            raise refuse(RefusalReason.BAD_EVIDENCE, document_name(demand), f"raw data: {error!r}") from error
        if computed is None:
            continue
        again += 1
        for detail in _other_figures(document.figures, computed):
            wrong.append(Refusal(RefusalReason.OTHER_VERDICT, document_name(demand), detail))
    if wrong:
        raise BundleRefused(wrong)
    return f"{again} computed again from raw data"


def _other_figures(claimed: Mapping[str, float], computed: Mapping[str, float]) -> Iterator[str]:
    for name in sorted(claimed.keys() | computed.keys()):
        stated, value = claimed.get(name), computed.get(name)
        if stated is None or value is None or abs(stated - value) > TOLERANCE * max(1.0, abs(value)):
            yield f"{name} is {stated}, but its data gives {value}"
