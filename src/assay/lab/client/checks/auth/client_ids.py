"""The client is who it was told to be, its document, or who it was registered as, in that order."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

REGISTERED, SUPPORT, SOURCE, ORDER = "AU-34", "AU-35", "AU-36", "AU-37"
ADDRESS, OFFERED, GIVEN = "AU-38", "AU-41", "AU-42"


@check(
    "The client id is one that the server can know",
    rows=(REGISTERED, SUPPORT, SOURCE, ORDER, ADDRESS, OFFERED, GIVEN),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        name = str(stop.said.get("client_id") or "")
        yield from _judged(journey, stop, name)


def _judged(journey: Journey, stop: Stop, name: str) -> Iterator[Observation]:
    given = journey.context.get("client_id")
    registered = _registered(journey, stop)
    metadata = journey.metadata_of(stop.spot)
    documents = metadata.get("client_id_metadata_document_supported") is True
    observed = f"client_id {name!r}"

    known = name == given or name in registered or is_document(name)
    expected = "an id that was given, registered or published"
    yield observe(SOURCE, known, stop, expected=expected, observed=observed)
    if is_url(name):
        expected = "an https address with a path"
        yield observe(ADDRESS, is_document(name), stop, expected=expected, observed=observed)
    if metadata and (is_url(name) or not documents):
        expected = "no address, since the server does not take such"
        yield observe(OFFERED, documents or not is_url(name), stop, expected=expected, observed=observed)
    if given is not None:
        expected = f"client_id {given!r}, which it was given"
        yield observe(GIVEN, name == given, stop, expected=expected, observed=observed)
        yield observe(ORDER, name == given, stop, expected=expected, observed=observed)
    elif documents:
        expected = "the address of its metadata document, since the server takes such"
        yield observe(SUPPORT, is_url(name), stop, expected=expected, observed=observed)
        yield observe(ORDER, is_url(name), stop, expected=expected, observed=observed)
    elif isinstance(metadata.get("registration_endpoint"), str):
        expected = "an id that it was registered under"
        yield observe(REGISTERED, name in registered, stop, expected=expected, observed=observed)
        yield observe(ORDER, name in registered, stop, expected=expected, observed=observed)


def _registered(journey: Journey, stop: Stop) -> set[str]:
    made = [one for one in journey.registrations if one.spot == stop.spot and one.n < stop.n]
    return {name for one in made if isinstance(name := one.told.get("client_id"), str)}


def is_url(name: str) -> bool:
    return "://" in name


def is_document(name: str) -> bool:
    try:
        parts = urlsplit(name)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.netloc) and parts.path not in ("", "/")
