"""Versions of prompts: in lists, in results, and over the right text."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any

import pytest

from assay import Context, Message, Server
from assay.model.content import Audio
from assay.profile import Profile
from assay.signing import canonical
from tests.profile.market import DATES, VERSION, market, result

EVERY = pytest.mark.parametrize("date", DATES)


def of(value: Any) -> str:
    return f"sha256:{sha256(canonical.encode(value)).hexdigest()}"


async def listed(server: Server, date: str = DATES[-2]) -> dict[str, Any]:
    prompts = (await result(server, date, "prompts/list"))["prompts"]
    return {prompt["name"]: prompt for prompt in prompts}


@EVERY
async def test_a_prompt_is_listed_with_version_and_digest_of_its_messages(date: str) -> None:
    server = market()
    meta = (await listed(server, date))["review"]["_meta"]
    arguments = {"code": "{code}", "language": "{language}"}
    got = await result(server, date, "prompts/get", name="review", arguments=arguments)
    expected = {"semver": "1.2.0", "digest": of(got["messages"]), "over": "messages"}
    assert (meta[VERSION], got["_meta"][VERSION], meta["own"]) == (expected, expected, 1)


async def test_whatever_the_arguments_the_version_is_the_one_of_the_list() -> None:
    server = market()
    got = await result(server, DATES[-1], "prompts/get", name="review", arguments={"code": "x"})
    assert got["_meta"][VERSION] == (await listed(server, DATES[-1]))["review"]["_meta"][VERSION]


@EVERY
async def test_what_cannot_be_rendered_is_known_by_its_definition_and_no_version_is_made_up(
    date: str, caplog: pytest.LogCaptureFixture
) -> None:
    prompt = (await listed(market(), date))["repeat"]
    definition = {"name": "repeat", "arguments": prompt["arguments"]}
    assert prompt["_meta"][VERSION] == {"digest": of(definition), "over": "definition"}
    assert "prompt repeat has no version" in caplog.text


async def test_a_prompt_is_rendered_once_for_all_lists() -> None:
    server, renderings = market(), []

    @server.prompt(version="1.0.0")
    async def counted() -> str:
        renderings.append(1)
        return "text"

    for _ in range(3):
        await listed(server)
    assert len(renderings) == 1


async def test_a_prompt_that_is_registered_anew_has_the_digest_of_its_new_text() -> None:
    server = market()
    before = (await listed(server))["review"]["_meta"][VERSION]
    server.prompts.remove("review")
    server.prompt(name="review", version="1.3.0")(lambda: "Another text")
    after = (await listed(server))["review"]["_meta"][VERSION]
    assert (after["semver"], after["over"]) == ("1.3.0", "messages")
    assert after["digest"] != before["digest"]


async def test_a_prompt_that_asks_is_known_by_its_definition() -> None:
    server = market()

    @server.prompt(version="1.0.0")
    async def asking(ctx: Context) -> str:
        return str(await ctx.elicit("Who?", {"type": "object", "properties": {}}))

    for date in DATES:
        assert (await listed(server, date))["asking"]["_meta"][VERSION]["over"] == "definition"


async def test_the_digest_is_over_what_a_revision_is_told() -> None:
    server = market()
    server.prompt(name="heard", version="1.0.0")(lambda: Message("user", Audio(b"RIFF", "audio/wav")))
    for date in (DATES[0], DATES[-1]):
        got = await result(server, date, "prompts/get", name="heard")
        assert got["_meta"][VERSION]["digest"] == of(got["messages"])


async def test_a_prompt_that_goes_while_others_are_rendered_is_listed_as_it_was() -> None:
    server = Server("going")
    entered, go_on = asyncio.Event(), asyncio.Event()

    @server.prompt(version="1.0.0")
    async def slow() -> str:
        entered.set()
        await go_on.wait()
        return "slow"

    server.prompt(name="going", version="1.0.0")(lambda: "going")
    server.use(Profile())
    listing = asyncio.create_task(listed(server))
    await entered.wait()
    server.prompts.remove("going")
    go_on.set()
    assert "_meta" not in (await listing)["going"]
