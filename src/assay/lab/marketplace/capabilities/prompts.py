"""Prompts carry a version and a digest of their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.need import A_PROMPT
from assay.lab.harness.sabotage.saboteur import newest_of_each_kind
from assay.lab.harness.trace.digest import digest_of
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.marketplace.declaration import BOTH, profile_check

from .effect import MOST
from .fault import listed
from .meta import VERSION, tag, told
from .prompt_digest import expected_digests, gets, is_version, placeholders, rendered

# --- what is asked


@scenario("Prompts, by version and digest", exercises=("cap.prompts",), needs=(A_PROMPT,), transports=BOTH)
async def drive_prompts(stage: Stage) -> None:
    peer = await stage.open()
    listed = await peer.pages("prompts/list", "prompts")
    for prompt in [one for one in listed if isinstance(one, dict)][:MOST]:
        await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": placeholders(prompt)})


# --- how it is judged


NUMBERED: Final = "CONF-CAP-03.prompts.version"
HASHED: Final = "CONF-CAP-03.prompts.digest"


@profile_check("Prompts have versions and digests", requirements=(NUMBERED, HASHED))
def judge_prompts(trace: Trace) -> Iterator[Observation]:
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


# --- what the checks must catch


@on_reply(
    "the digest of a prompt is of something else",
    breaks="CONF-CAP-03.prompts.digest",
    window=newest_of_each_kind,
)
def digest_of_the_name(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"][VERSION]["digest"] = digest_of(prompt["name"].encode())
    return reply


@on_result(
    "the messages of a prompt are not those of its digest",
    breaks="CONF-CAP-03.prompts.digest",
    method="prompts/get",
)
def prompt_of_another_text(result: Json, context: FaultContext) -> None:
    result["messages"].append({"role": "user", "content": {"type": "text", "text": "Be brief."}})


@on_result(
    "prompts/get returns no version",
    breaks="CONF-CAP-03.prompts.version",
    window=newest_of_each_kind,
    method="prompts/get",
)
def got_untold(result: Json, context: FaultContext) -> None:
    result.get("_meta", {}).pop(VERSION, None)


@on_reply(
    "a version is no semantic version", breaks="CONF-CAP-03.prompts.version", window=newest_of_each_kind
)
def two_numbers(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"][VERSION]["semver"] = "1.2"
    return reply


@on_reply("prompts are listed without a version", breaks="CONF-CAP-03.prompts.version")
def unversioned(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"].pop(VERSION)
    return reply
