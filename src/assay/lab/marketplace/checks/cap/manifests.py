"""The manifests below `.well-known`: their form, and whether they tell what the live lists tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.cap_manifest import PLACES, REQUIRED, Manifest, disagreements, manifests
from assay.lab.marketplace.declaring import profile_check
from assay.revisions.revision import Revision

FORM: Final = "CONF-CAP-03.manifests.form"
AGREE: Final = "CONF-CAP-03.manifests.agree"
SHOWN: Final = 5


@profile_check("Manifests tell what is there", rows=(FORM, AGREE), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for one in manifests(trace):
        yield _form(one)
        live = [each for each in listings(trace, f"{one.kind}/list", one.kind) if each.complete]
        if one.is_there and live:
            yield _agreeing(one, live, trace.revision)


def _form(one: Manifest) -> Observation:
    return observe(
        FORM,
        not one.problems,
        one,
        expected=f"at {PLACES[one.kind]}, application/json: an array of objects with unique names, each "
        f"with {', '.join(REQUIRED[one.kind])}",
        observed="; ".join(one.problems[:SHOWN]),
    )


def _agreeing(one: Manifest, live: list[Listing], revision: Revision) -> Observation:
    """A list may change while both are read: the manifest is the one of before or of after."""
    differences = [disagreements(one, each.items, revision) for each in live]
    return observe(
        AGREE,
        not all(differences),
        one,
        *live,
        expected=f"in {PLACES[one.kind]}, just what {one.kind}/list has",
        observed="; ".join(differences[-1][:SHOWN]),
    )
