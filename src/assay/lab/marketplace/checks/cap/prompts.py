"""Prompts have versions, and digests of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.cap_meta import VERSION, tag, told
from assay.lab.marketplace.cap_prompt import expected_digests, gets, is_version, rendered
from assay.lab.marketplace.declaring import profile_check

NUMBERED: Final = "CONF-CAP-03.prompts.version"
HASHED: Final = "CONF-CAP-03.prompts.digest"


@profile_check("Prompts have versions and digests", rows=(NUMBERED, HASHED))
def judge(trace: Trace) -> Iterator[Observation]:
    for listing in listings(trace, "prompts/list", "prompts"):
        for prompt in listing.items:
            yield _numbered(prompt, listing)
            yield from (_same(prompt, one) for one in gets(trace, prompt) if one.objects("messages"))
            got = rendered(trace, prompt)
            if got is not None:
                yield _hashed(prompt, listing, got)


def _numbered(prompt: dict[str, Any], listing: Listing) -> Observation:
    said = tag(prompt, VERSION)
    return observe(
        NUMBERED,
        is_version((said or {}).get("semver")),
        listing,
        expected=f'_meta["{VERSION}"] of each prompt in the list, with a "semver" such as 1.2.0',
        observed=f"{prompt.get('name')}: {told(said, VERSION)}",
    )


def _same(prompt: dict[str, Any], got: Exchange) -> Observation:
    listed, here = tag(prompt, VERSION), tag(got.result, VERSION)
    return observe(
        NUMBERED,
        here is not None and here.get("semver") == (listed or {}).get("semver"),
        got,
        expected=f'_meta["{VERSION}"] of what prompts/get returns, with the version of the list',
        observed=f"{prompt.get('name')}: {told(here, VERSION)}, listed {listed!r}",
    )


def _hashed(prompt: dict[str, Any], listing: Listing, got: Exchange) -> Observation:
    said = tag(prompt, VERSION) or {}
    over, right = expected_digests(prompt, got)
    return observe(
        HASHED,
        said.get("over") == over and said.get("digest") in right,
        listing,
        got,
        expected=f'in {VERSION}, "over": "{over}" and the digest of that: {" or ".join(right)}',
        observed=f"{prompt.get('name')}: {told(tag(prompt, VERSION), VERSION)}",
    )
