"""What the server tells everybody: for which resource it takes tokens, and of whom."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.trace.admission import calls_with, is_opening
from assay.lab.harness.trace.challenge import METADATA, bearer_challenge
from assay.lab.harness.trace.resource_metadata import Document, documents, is_of, path_on
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("The metadata of the resource is served", rows=("AU-07", "AU-08", "AU-10"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    found = list(documents(trace))
    refused = [call for _, call in calls_with(trace, NONE) if is_opening(call) and call.status == 401]
    if not found:
        return
    calls = [one.call for one in found]
    own = [one for one in found if is_of(one, trace)]
    if own or not any(_leads_elsewhere(call) for call in refused):
        yield observe(
            "AU-07",
            bool(own),
            *calls,
            expected="at one address, metadata whose `resource` is this server",
            observed="; ".join(map(str, found)),
        )
    yield from map(_issuers, own)
    if refused:
        yield _discoverable(refused, own, calls)


def _issuers(one: Document) -> Observation:
    named = one.content.get("authorization_servers")
    good = isinstance(named, list) and bool(named) and all(isinstance(each, str) for each in named)
    return observe("AU-08", good, one.call, expected="one or more issuers", observed=f"{named!r}")


def _discoverable(refused: list[Call], own: list[Document], calls: list[Call]) -> Observation:
    told = [call for call in refused if _place(call)]
    return observe(
        "AU-10",
        bool(told or own),
        *refused,
        *calls,
        expected=f"{METADATA} in the challenge, or metadata at a well-known address",
        observed="neither",
    )


def _leads_elsewhere(call: Call) -> bool:
    """Whether the metadata is on another machine, which is not asked here."""
    place = _place(call)
    return place is not None and not path_on(call.sent.get("host") or "", place)


def _place(call: Call) -> str | None:
    challenge = bearer_challenge(call.head)
    return None if challenge is None else challenge.params.get(METADATA)
