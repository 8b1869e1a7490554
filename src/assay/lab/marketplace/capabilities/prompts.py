"""Prompts carry a version and a digest of their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_result, scenario
from assay.lab.harness.need import A_PROMPT
from assay.lab.harness.sabotage.saboteur import newest_of_each_kind
from assay.lab.harness.subject.registry_entry import VERSION
from assay.lab.harness.trace.digest import digest_of, digest_of_json
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.marketplace.declaration import BOTH, profile_check

from .effect import MOST
from .meta import describe, is_version, tag

# --- what is asked


@scenario("Get each prompt with placeholders", exercises=("cap.prompts",), needs=(A_PROMPT,), transports=BOTH)
async def drive_prompts(stage: Stage) -> None:
    peer = await stage.open()
    prompts = await peer.pages("prompts/list", "prompts")
    for prompt in [prompt for prompt in prompts if isinstance(prompt, dict)][:MOST]:
        await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": placeholders(prompt)})


def placeholders(prompt: Json) -> dict[str, str]:
    """The name of each argument in braces: digests are computed with these values."""
    arguments = prompt.get("arguments")
    objects = (item for item in (arguments if isinstance(arguments, list) else ()) if isinstance(item, dict))
    names = (argument.get("name") for argument in objects)
    return {name: f"{{{name}}}" for name in names if isinstance(name, str)}


# --- how it is judged


NUMBERED: Final = "CONF-CAP-03.prompts.version"
HASHED: Final = "CONF-CAP-03.prompts.digest"


@profile_check("Prompts have versions and digests", requirements=(NUMBERED, HASHED))
def judge_prompts(trace: Trace) -> Iterator[Observation]:
    for listing in listings(trace, "prompts/list", "prompts"):
        for prompt in listing.items:
            name, version = prompt.get("name"), tag(prompt, VERSION)
            holds = is_version((version or {}).get("semver"))
            expected = f'_meta["{VERSION}"] of each prompt in the list, with a "semver" such as 1.2.0'
            observed = f"{name}: {describe(version, VERSION)}"
            yield observe(NUMBERED, holds, listing, expected=expected, observed=observed)
            gets = [get for get in trace.exchanges("prompts/get") if get.params.get("name") == name]
            answered = [get for get in gets if get.answer is not None]
            yield from (_judge_version(prompt, get) for get in answered if get.objects("messages"))
            sample = placeholders(prompt)
            for get in [get for get in answered if get.params.get("arguments") == sample][:1]:
                over, digests = _expected_digests(prompt, get)
                holds = (version or {}).get("over") == over and (version or {}).get("digest") in digests
                expected = f'in {VERSION}, "over": "{over}" and the digest of that: {" or ".join(digests)}'
                yield observe(HASHED, holds, listing, get, expected=expected, observed=observed)


def _judge_version(prompt: Json, get: Exchange) -> Observation:
    listed, version = tag(prompt, VERSION), tag(get.result, VERSION)
    holds = version is not None and version.get("semver") == (listed or {}).get("semver")
    expected = f'_meta["{VERSION}"] of the result of prompts/get, with the version of the list'
    observed = f"{prompt.get('name')}: {describe(version, VERSION)}, listed {listed!r}"
    return observe(NUMBERED, holds, get, expected=expected, observed=observed)


def _expected_digests(prompt: Json, get: Exchange) -> tuple[str, list[str]]:
    """What the digest covers, and its possible values."""
    values: list[Any] = [(get.result or {}).get("messages")]
    over = "messages"
    if not isinstance(values[0], list):
        over, name = "definition", {"name": prompt.get("name")}
        values = [{**name, "arguments": prompt.get("arguments", [])}]
        values += [] if "arguments" in prompt else [name]
    return over, [digest for value in values if (digest := digest_of_json(value)) is not None]


# --- what the checks must catch


@on_result(
    "lists the digest of something else", breaks=HASHED, window=newest_of_each_kind, method="prompts/list"
)
def digest_of_the_name(result: Json, context: FaultContext) -> None:
    for prompt in result["prompts"]:
        prompt["_meta"][VERSION]["digest"] = digest_of(prompt["name"].encode())


@on_result("returns other messages than those of the digest", breaks=HASHED, method="prompts/get")
def prompt_of_another_text(result: Json, context: FaultContext) -> None:
    result["messages"].append({"role": "user", "content": {"type": "text", "text": "Be brief."}})


@on_result(
    "returns no version from prompts/get", breaks=NUMBERED, window=newest_of_each_kind, method="prompts/get"
)
def got_untold(result: Json, context: FaultContext) -> None:
    result.get("_meta", {}).pop(VERSION, None)


@on_result(
    "lists versions that are not semantic versions",
    breaks=NUMBERED,
    window=newest_of_each_kind,
    method="prompts/list",
)
def two_numbers(result: Json, context: FaultContext) -> None:
    for prompt in result["prompts"]:
        prompt["_meta"][VERSION]["semver"] = "1.2"


@on_result("lists prompts without a version", breaks=NUMBERED, method="prompts/list")
def unversioned(result: Json, context: FaultContext) -> None:
    for prompt in result["prompts"]:
        prompt["_meta"].pop(VERSION)
