"""Skills: listed without reading, verified before use."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any, Final

import pytest

from assay import Client, InvalidAnswer, LoadedSkill, ServerError, Skill, SyncClient
from assay.protocol.frontmatter import differing_field, read_frontmatter
from tests.client.scripted import HttpRequest, RawServer, Writer, answering, http_response, raw_http, result

URI: Final = "skill://pdf-processing/SKILL.md"
FORMS: Final = "skill://pdf-processing/references/FORMS.md"
ABOUT: Final = {"name": "pdf-processing", "description": "Extract pages"}
TEXT: Final = "---\nname: pdf-processing\ndescription: Extract pages\n---\n\nHow it works.\n"
TEXTS: Final = {URI: TEXT, FORMS: "More on forms.\n"}


def entry(texts: dict[str, str] = TEXTS, **changes: Any) -> dict[str, Any]:
    files = [
        {"uri": uri, "digest": f"sha256:{sha256(text.encode()).hexdigest()}", "size": len(text.encode())}
        for uri, text in texts.items()
    ]
    return {"uri": URI, "frontmatter": ABOUT, "resources": files, **changes}


class Skills:
    """A server with these entries and files."""

    def __init__(self, *entries: dict[str, Any], texts: dict[str, str] = TEXTS) -> None:
        self.entries = list(entries)
        self.texts = texts
        self.server: RawServer

    async def respond(self, request: HttpRequest, writer: Writer) -> None:
        message = request.message
        match message["method"], message["params"]:
            case "skills/list", params:
                position = int(params.get("cursor", 0))
                page: dict[str, Any] = {"skills": self.entries[position : position + 1]}
                if position + 1 < len(self.entries):
                    page["nextCursor"] = str(position + 1)
                writer.write(http_response("200 OK", result(request, page)))
            case "skills/get", _:
                writer.write(http_response("200 OK", result(request, {"skill": self.entries[0]})))
            case _, params:
                contents = [{"uri": params["uri"], "text": self.texts[params["uri"]]}]
                writer.write(http_response("200 OK", result(request, {"contents": contents})))

    @property
    def reads(self) -> list[str]:
        messages = [request.message for request in self.server.requests]
        return [message["params"]["uri"] for message in messages if message.get("method") == "resources/read"]


@contextlib.asynccontextmanager
async def connected(skills: Skills) -> AsyncIterator[Client]:
    async with raw_http(answering(skills.respond)) as skills.server, Client(skills.server.url) as client:
        yield client


async def test_skills_are_listed_over_pages_without_reading_one() -> None:
    second = entry(uri="skill://tools/other/SKILL.md", frontmatter={**ABOUT, "name": "other"})
    second["resources"] = "dynamic"
    skills = Skills(entry(), second)
    async with connected(skills) as client:
        assert [(skill.name, skill.description) for skill in await client.skills()] == [
            ("pdf-processing", "Extract pages"),
            ("other", "Extract pages"),
        ]
        assert skills.reads == []


async def test_a_skill_is_loaded_and_its_files_are_read_on_demand() -> None:
    skills = Skills(entry())
    async with connected(skills) as client:
        [skill] = await client.skills()
        loaded = await client.load_skill(skill)
        assert loaded.text == TEXT
        assert skills.reads == [URI]
        assert (await client.skill_file(loaded, "references/FORMS.md")).text == "More on forms.\n"
        assert (await client.skill_file(loaded, FORMS)).text == "More on forms.\n"
        assert await client.skill(URI) == skill


OTHER: Final = TEXT.replace("Extract pages", "Send all away")


@pytest.mark.parametrize(
    ("listed", "served", "reason"),
    [
        (TEXT, TEXT.replace("How", "Who"), r"its digest is sha256:\w+, its entry says sha256:\w+"),
        (TEXT, TEXT + "more\n", "its size is 76 bytes, its entry says 71"),
        (OTHER, OTHER, "differs from its entry in the field description"),
        ("none", "none", "does not begin with frontmatter"),
        ("---\nname: [\n---\n", "---\nname: [\n---\n", "not valid YAML"),
        ("---\nname: x\n", "---\nname: x\n", "does not end"),
    ],
)
async def test_a_manifest_that_differs_from_its_entry_is_refused(
    listed: str, served: str, reason: str
) -> None:
    skills = Skills(entry({**TEXTS, URI: listed}), texts={**TEXTS, URI: served})
    async with connected(skills) as client:
        [skill] = await client.skills()
        with pytest.raises(InvalidAnswer, match=reason):
            await client.load_skill(skill)
        assert skills.reads == [URI]


async def test_a_file_that_differs_from_its_entry_is_refused() -> None:
    async with connected(Skills(entry(), texts={**TEXTS, FORMS: "More on norms.\n"})) as client:
        loaded = await client.load_skill((await client.skills())[0])
        with pytest.raises(InvalidAnswer, match=r"do not use .*FORMS.md: its digest"):
            await client.skill_file(loaded, "references/FORMS.md")


@pytest.mark.parametrize(
    "path",
    ["other.md", "../other/SKILL.md", "skill://other/SKILL.md", "", "references/%2E%2e/x", "a\\b", "a?b"],
)
async def test_only_listed_files_of_the_skill_are_read(path: str) -> None:
    skills = Skills(entry(), entry(resources="dynamic"))
    async with connected(skills) as client:
        for skill in await client.skills():
            loaded = await client.load_skill(skill)
            if path == "other.md" and skill.resources == "dynamic":
                continue
            with pytest.raises(ValueError, match="not a file of skill"):
                await client.skill_file(loaded, path)
        assert set(skills.reads) == {URI}


async def test_files_of_a_skill_that_was_not_loaded_are_not_read() -> None:
    async with connected(Skills(entry())) as client:
        skill: Any = (await client.skills())[0]
        with pytest.raises(TypeError, match="after `loaded = "):
            await client.skill_file(skill, "references/FORMS.md")


def invalid_entries() -> list[tuple[dict[str, Any], str]]:
    valid = entry()["resources"]
    outside = {"uri": "skill://other/x", "digest": valid[0]["digest"], "size": 1}
    return [
        (entry(uri="skill://pdf-processing/README.md"), "does not end with /SKILL.md"),
        (entry(uri="skill://other/SKILL.md"), "not the last part of its path"),
        (entry(frontmatter={"name": "pdf-processing"}), "no name and description"),
        (entry(uri="skill://a/--x/SKILL.md", frontmatter={**ABOUT, "name": "--x"}), "its name"),
        (entry(resources=valid[1:]), "do not include SKILL.md"),
        (entry(resources=[*valid, valid[1]]), "lists a file twice"),
        (entry(resources=[*valid, outside]), "is not inside"),
        (entry(resources=[{**valid[0], "digest": "md5:0"}]), "digest or size is invalid"),
        (entry(resources=[{**valid[0], "size": 2**40}]), "more than 512 files or"),
    ]


@pytest.mark.parametrize(("broken", "reason"), invalid_entries())
async def test_invalid_entries_are_left_out_and_named_in_the_log(
    broken: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "assay.client"):
        async with connected(Skills(broken, entry())) as client:
            assert [skill.uri for skill in await client.skills()] == [URI]
    assert reason in caplog.text


async def test_an_entry_of_another_skill_is_not_the_answer_to_get() -> None:
    async with connected(Skills(entry())) as client:
        with pytest.raises(InvalidAnswer, match="sent the entry of"):
            await client.skill("skill://other/SKILL.md")


async def test_entries_without_files_are_an_invalid_answer() -> None:
    broken = entry()
    del broken["resources"]
    async with connected(Skills(broken)) as client:
        with pytest.raises(InvalidAnswer, match="resources"):
            await client.skills()


async def test_a_server_without_skills_says_so() -> None:
    from assay import Server

    async with Client(Server("plain")) as client:
        with pytest.raises(ServerError, match="not found"):
            await client.skills()


@pytest.mark.parametrize(
    ("yaml", "value", "same"),
    [
        ("1.0", 1.0, True),
        ("0x10", 16, True),
        ("yes", True, True),
        ("true", "true", True),
        ("~", None, True),
        ("2024-01-01", "2024-01-01", True),
        ("[a, 1]", ["a", 1], True),
        ("{a: {b: off}}", {"a": {"b": False}}, True),
        ("one", "two", False),
        ("[a]", "a", False),
        ("9" * 5000, 9, False),
    ],
)
def test_yaml_is_compared_with_json_by_meaning(yaml: str, value: Any, same: bool) -> None:
    fields = read_frontmatter(f"---\nfield: {yaml}\n---\n")
    assert differing_field(fields, {"field": value}) == (None if same else "field")


@pytest.mark.parametrize(
    "block", ["[" * 8000, "[" * 400, "x: " + "a" * 20_000, "&a [" + "*a," * 1000 + "]", "? " * 8000]
)
def test_hostile_frontmatter_is_refused(block: str) -> None:
    with pytest.raises(ValueError, match="frontmatter"):
        read_frontmatter(f"---\n{block}\n---\n")


def test_aliases_that_multiply_cost_no_more_than_the_entry() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    fields = read_frontmatter("---\n" + "\n".join(lines) + "\n---\n")
    assert differing_field(fields, {"a0": ["x"]}) == "a1"


async def test_the_sync_client_loads_skills() -> None:
    import asyncio

    def use(url: str) -> LoadedSkill:
        with SyncClient(url) as client:
            skills: list[Skill] = client.skills()
            loaded = client.load_skill(client.skill(skills[0].uri))
            assert client.skill_file(loaded, "references/FORMS.md").text == "More on forms.\n"
            return loaded

    skills = Skills(entry())
    async with raw_http(answering(skills.respond)) as skills.server:
        assert (await asyncio.to_thread(use, skills.server.url)).text == TEXT
