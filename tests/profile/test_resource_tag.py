"""Resource reads and their tags."""

from __future__ import annotations

from base64 import b64decode
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest

from assay import Contents, ResourceNotFound, Server
from assay.profile import Profile
from tests.profile.market import DATES, PROVENANCE, RETENTION, answer, market, result

EVERY = pytest.mark.parametrize("date", DATES)


async def read(server: Server, uri: str, date: str = DATES[-2]) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = (await result(server, date, "resources/read", uri=uri))["contents"]
    return contents


@EVERY
async def test_text_carries_the_digest_of_its_utf8(date: str) -> None:
    (contents,) = await read(market(), "file:///notes.txt", date)
    provenance = contents["_meta"][PROVENANCE]
    assert provenance.pop("asOf")
    expected = sha256(contents["text"].encode()).hexdigest()
    assert provenance == {"alg": "sha-256", "digest": expected, "over": "text-utf8"}


@EVERY
async def test_a_blob_carries_the_digest_of_its_bytes(date: str) -> None:
    (contents,) = await read(market(), "file:///picture.png", date)
    provenance = contents["_meta"][PROVENANCE]
    assert (provenance["digest"], provenance["over"]) == (
        sha256(b64decode(contents["blob"])).hexdigest(),
        "blob",
    )


async def test_the_time_is_now_in_utc() -> None:
    (contents,) = await read(market(), "file:///notes.txt")
    as_of = contents["_meta"][PROVENANCE]["asOf"]
    assert as_of.endswith("Z")
    moment = datetime.fromisoformat(as_of)
    assert abs(datetime.now(moment.tzinfo) - moment) < timedelta(minutes=1)


@EVERY
async def test_a_resource_says_its_tier_itself(date: str) -> None:
    (contents,) = await read(market(Profile(patterns={"*": "short-30d"})), "file:///notes.txt", date)
    assert contents["_meta"][RETENTION] == {"tier": "legal-hold"}


async def test_other_resources_have_the_tier_of_their_pattern_or_the_default() -> None:
    server = market(Profile(retention="extended-730d", patterns={"file:///log/a*": "short-30d"}))
    first, second = await read(server, "log://monday")
    assert first["_meta"][RETENTION] == {"tier": "short-30d"}
    assert second["_meta"][RETENTION] == {"tier": "extended-730d"}


async def test_what_the_author_has_put_there_stays() -> None:
    _, second = await read(market(), "log://monday")
    assert second["_meta"]["x"] == 1


async def test_contents_may_say_their_tier_with_more() -> None:
    own = {"tier": "short-30d", "legalHold": False}
    server = market()

    @server.resource("file:///own")
    async def held() -> Contents:
        return Contents("file:///own", text="", meta={RETENTION: own, PROVENANCE: "made up"})

    (contents,) = await read(server, "file:///own")
    assert contents["_meta"][RETENTION] == own
    assert contents["_meta"][PROVENANCE]["digest"] == sha256(b"").hexdigest()


async def test_contents_of_the_author_are_not_changed() -> None:
    mine = Contents("file:///mine", text="mine")
    server = market()

    @server.resource("file:///mine")
    async def tagged() -> Contents:
        return mine

    await read(server, "file:///mine")
    assert mine.meta is None


async def test_a_tier_that_does_not_exist_is_a_fault_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    server = market()
    server.resource("file:///odd", meta={RETENTION: {"tier": "for-ever"}})(lambda: "x")
    failed = await answer(server, DATES[-2], "resources/read", uri="file:///odd")
    assert failed["error"]["code"] == -32603
    assert "resource file:///odd: unknown retention tier: 'for-ever'" in caplog.text


async def test_what_is_not_there_is_not_found_as_before() -> None:
    server = market()

    @server.resource("file:///gone")
    async def gone() -> str:
        raise ResourceNotFound("file:///gone")

    failed = await answer(server, DATES[-2], "resources/read", uri="file:///gone")
    assert failed["error"]["code"] == -32002
