"""Skills of a server: a folder published as entries, directories and resources."""

from __future__ import annotations

import json
import logging
import os
from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from assay import Client, RegistrationError, Scope, Server
from assay.model.skill import MOST_BYTES, MOST_FILES
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.driving.describing import describe
from tests.server.scripted import ScriptedClient

NAME = "io.modelcontextprotocol/skills"
MANIFEST = "skill://pdf-tools/SKILL.md"


def manifest(name: str, **fields: Any) -> str:
    lines = "".join(f"{field}: {value}\n" for field, value in fields.items())
    return f"---\nname: {name}\ndescription: How to use {name}\n{lines}---\n# {name}\n"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "skills",
        {
            "pdf-tools/SKILL.md": manifest("pdf-tools", license="MIT", version=2.1),
            "pdf-tools/references/FORMS.md": "Forms.\n",
            "pdf-tools/assets/logo.png": b"\x89PNG\xff",
            "pdf-tools/.git/config": "secret",
            "acme/refunds/SKILL.md": manifest("refunds"),
            "acme/refunds/inner/SKILL.md": manifest("inner"),
            "acme/README.md": "not part of a skill",
        },
    )


@pytest.fixture
def server(folder: Path) -> Server:
    server = Server("test", page_size=2)
    server.skills(folder)
    return server


async def ask(server: Server, method: str, **params: Any) -> Any:
    return json.loads(await server.handle(describe(method, params)) or b"")


async def test_entries_name_every_file_with_digest_and_size(server: Server, folder: Path) -> None:
    skill = (await ask(server, "skills/get", uri=MANIFEST))["result"]["skill"]
    assert skill["uri"] == MANIFEST
    assert skill["frontmatter"] == {
        "name": "pdf-tools",
        "description": "How to use pdf-tools",
        "license": "MIT",
        "version": 2.1,
    }
    paths = ["SKILL.md", "assets/logo.png", "references/FORMS.md"]
    contents = {path: (folder / "pdf-tools" / path).read_bytes() for path in paths}
    assert skill["resources"] == [
        {
            "uri": f"skill://pdf-tools/{path}",
            "digest": f"sha256:{sha256(data).hexdigest()}",
            "size": len(data),
        }
        for path, data in contents.items()
    ]


async def test_files_of_a_skill_inside_another_belong_to_both(server: Server) -> None:
    outer = (await ask(server, "skills/get", uri="skill://acme/refunds/SKILL.md"))["result"]["skill"]
    inner = "skill://acme/refunds/inner/SKILL.md"
    assert [file["uri"] for file in outer["resources"]] == ["skill://acme/refunds/SKILL.md", inner]
    assert (await ask(server, "skills/get", uri=inner))["result"]["skill"]["frontmatter"]["name"] == "inner"


async def test_our_client_lists_verifies_and_reads_them(server: Server) -> None:
    async with Client(server) as client:
        skills = {skill.name: skill for skill in await client.skills()}
        assert sorted(skills) == ["inner", "pdf-tools", "refunds"]
        loaded = await client.load_skill(skills["pdf-tools"])
        assert loaded.text.endswith("# pdf-tools\n")
        assert (await client.skill_file(loaded, "references/FORMS.md")).text == "Forms.\n"
        assert (await client.skill_file(loaded, "assets/logo.png")).blob == b"\x89PNG\xff"


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_sessions_declare_and_serve_them(server: Server, revision: Revision) -> None:
    client = ScriptedClient(server, revision=revision.date)
    declared = (await client.initialize())["capabilities"]
    assert declared["extensions"] == {NAME: {"directoryRead": True}}
    assert "resources" in declared
    await client.notify("notifications/initialized")
    listed = await client.result("skills/list")
    assert [skill["uri"] for skill in listed["skills"]] == [
        "skill://acme/refunds/SKILL.md",
        "skill://acme/refunds/inner/SKILL.md",
    ]
    rest = await client.result("skills/list", cursor=listed["nextCursor"])
    assert [skill["uri"] for skill in rest["skills"]] == [MANIFEST]
    assert "nextCursor" not in rest and "ttlMs" not in rest


async def test_a_server_without_skills_does_not_have_the_methods() -> None:
    for method in ("skills/list", "skills/get", "resources/directory/read"):
        assert (await ask(Server("test"), method))["error"]["code"] == -32601


async def test_lists_and_entries_have_caching_hints(server: Server) -> None:
    for method, params in (("skills/list", {}), ("skills/get", {"uri": MANIFEST})):
        result = (await ask(server, method, **params))["result"]
        assert {"ttlMs", "cacheScope"} <= result.keys()


async def test_directories_list_their_children_in_pages(server: Server) -> None:
    async with ScriptedClient(server) as client:
        first = await client.result("resources/directory/read", uri="skill://pdf-tools")
        assert [child["name"] for child in first["resources"]] == ["pdf-tools", "assets"]
        more = await client.result(
            "resources/directory/read", uri="skill://pdf-tools", cursor=first["nextCursor"]
        )
        assert more == {
            "resources": [
                {"uri": "skill://pdf-tools/references", "name": "references", "mimeType": "inode/directory"}
            ]
        }
        (forms,) = (await client.result("resources/directory/read", uri="skill://pdf-tools/references"))[
            "resources"
        ]
        assert (forms["uri"], forms["mimeType"]) == ("skill://pdf-tools/references/FORMS.md", "text/markdown")
        other = await client.error(
            "resources/directory/read", uri="skill://pdf-tools/references", cursor=first["nextCursor"]
        )
        assert other["code"] == -32602


@pytest.mark.parametrize(
    "uri", [MANIFEST, "skill://pdf-tools/", "skill://acme", "skill://", "skill://pdf-tools/..", "x", ""]
)
async def test_other_uris_are_no_directories(server: Server, uri: str) -> None:
    assert (await ask(server, "resources/directory/read", uri=uri))["error"]["code"] == -32602


@pytest.mark.parametrize("uri", ["skill://nothing/SKILL.md", "skill://pdf-tools", "", "x" * 100_000])
async def test_an_unknown_skill_is_an_invalid_parameter(server: Server, uri: str) -> None:
    error = (await ask(server, "skills/get", uri=uri))["error"]
    assert error["code"] == -32602
    assert len(error["message"]) < 400


async def test_manifests_are_listed_with_name_and_description(server: Server) -> None:
    async with Client(server) as client:
        listed = {resource.uri: resource for resource in await client.resources()}
    assert (listed[MANIFEST].name, listed[MANIFEST].description) == ("pdf-tools", "How to use pdf-tools")
    assert listed[MANIFEST].mime_type == "text/markdown"
    prefix = "io.modelcontextprotocol.skills/"
    assert listed[MANIFEST].meta == {f"{prefix}license": "MIT", f"{prefix}version": 2.1}
    assert not [uri for uri in listed if "README" in uri or ".git" in uri]


async def test_bytes_that_are_not_text_are_sent_as_they_are(tmp_path: Path) -> None:
    server = Server("test")
    server.skills(write(tmp_path, {"a/SKILL.md": manifest("a"), "a/latin.txt": b"\xe9"}))
    (part,) = (await ask(server, "resources/read", uri="skill://a/latin.txt"))["result"]["contents"]
    assert b64decode(part["blob"]) == b"\xe9"


async def test_nothing_outside_the_folder_is_published(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"canary.txt": "secret", "deep/canary.txt": "secret"})
    folder = write(tmp_path / "skills", {"a/SKILL.md": manifest("a")})
    (folder / "a" / "file").symlink_to(outside / "canary.txt")
    (folder / "a" / "directory").symlink_to(outside / "deep", target_is_directory=True)
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    os.mkfifo(folder / "a" / "pipe")
    server = Server("test")
    server.skills(folder)
    assert [resource.uri for resource in server.resources.list()] == ["skill://a/SKILL.md"]
    for path in (
        "file",
        "../outside/canary.txt",
        "%2e%2e/outside/canary.txt",
        "directory/canary.txt",
        "pipe",
    ):
        assert "error" in await ask(server, "resources/read", uri=f"skill://a/{path}")


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "no folder in .* has a SKILL.md"),
        ({"a/README.md": ""}, "has a SKILL.md"),
        ({"a/SKILL.md": "# A"}, "skill a/SKILL.md: it does not begin with frontmatter"),
        ({"a/SKILL.md": "---\nname: a\n---\n"}, "needs a `name` and a `description`"),
        ({"a/SKILL.md": "---\nname: 1\ndescription: d\n---\n"}, "needs a `name` and a `description`"),
        ({"a/SKILL.md": manifest("b")}, "its name is 'b' and its folder 'a': rename"),
        ({"A/SKILL.md": manifest("A")}, "lower-case"),
        ({"a--b/SKILL.md": manifest("a--b")}, "single hyphens"),
        ({"a/SKILL.md": b"\xff"}, "skill a/SKILL.md"),
        ({"a/SKILL.md": manifest("a"), "a/large": b"x" * (MOST_BYTES + 1)}, "limit"),
        (
            {"a/SKILL.md": manifest("a"), **{f"a/{n}": "" for n in range(MOST_FILES)}},
            f"{MOST_FILES + 1} files",
        ),
    ],
)
def test_an_invalid_folder_is_refused_and_nothing_is_declared(
    tmp_path: Path, files: dict[str, str | bytes], problem: str
) -> None:
    server = Server("test")
    with pytest.raises(RegistrationError, match=problem):
        server.skills(write(tmp_path, files))
    assert NAME not in server.extensions
    assert server.resources.list() == []


def test_a_path_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistrationError, match="is not a folder"):
        Server("test").skills(tmp_path / "missing")


def test_the_folder_of_one_skill_is_published_under_its_name(folder: Path) -> None:
    assert Server("test").skills(folder / "pdf-tools").uris == [MANIFEST]


def test_several_folders_are_published_under_their_prefixes(folder: Path) -> None:
    server = Server("test")
    server.skills(folder)
    with pytest.raises(RegistrationError, match="use another `prefix`"):
        server.skills(folder)
    assert "skill://acme/more/pdf-tools/SKILL.md" in server.skills(folder, prefix="acme/more/").uris


async def test_scopes_and_access_hide_skills(folder: Path) -> None:
    server = Server("test")
    server.skills(folder, scopes=["skills"])
    server.skills(folder, prefix="private", access=lambda uri, scope: scope.principal == "ada")

    async def error_code(method: str, uri: str, **scope: Any) -> int | None:
        answer = json.loads(await server.handle(describe(method, {"uri": uri}), scope=Scope(**scope)) or b"")
        code: int | None = answer.get("error", {}).get("code")
        return code

    private = "skill://private/pdf-tools"
    for method, target in (("skills/get", f"{private}/SKILL.md"), ("resources/directory/read", private)):
        assert await error_code(method, target, principal="eve") == -32602
        assert await error_code(method, target, principal="ada") is None
    other, granted = frozenset({"other"}), frozenset({"skills"})
    assert await error_code("skills/get", MANIFEST, scopes=other) is not None
    assert await error_code("skills/get", MANIFEST, scopes=granted) is None
    listed = json.loads(await server.handle(describe("skills/list", {}), scope=Scope(scopes=other)) or b"")
    assert MANIFEST not in [skill["uri"] for skill in listed["result"]["skills"]]


async def test_reload_publishes_what_changed_and_notifies(folder: Path) -> None:
    server = Server("test")
    published = server.skills(folder)
    async with ScriptedClient(server) as client:
        await client.result("resources/subscribe", uri="skill://pdf-tools/references/FORMS.md")
        assert published.reload() is False
        assert client.received_so_far() == []
        write(folder, {"pdf-tools/references/FORMS.md": "Changed.\n", "new/SKILL.md": manifest("new")})
        assert published.reload() is True
        methods = {(await client.receive())["method"] for _ in range(2)}
        assert methods == {"notifications/resources/list_changed", "notifications/resources/updated"}
        (part,) = (await client.result("resources/read", uri="skill://pdf-tools/references/FORMS.md"))[
            "contents"
        ]
        assert part["text"] == "Changed.\n"
        (folder / "new" / "SKILL.md").unlink()
        assert published.reload() is True
        assert (await client.error("skills/get", uri="skill://new/SKILL.md"))["code"] == -32602


async def test_what_was_published_stays_when_the_folder_becomes_invalid(folder: Path) -> None:
    server = Server("test")
    published = server.skills(folder)
    write(folder, {"pdf-tools/SKILL.md": "no frontmatter"})
    with pytest.raises(RegistrationError):
        published.reload()
    assert MANIFEST in published.uris
    (part,) = (await ask(server, "resources/read", uri=MANIFEST))["result"]["contents"]
    assert part["text"].startswith("---\nname: pdf-tools")


async def test_a_watched_folder_is_published_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "assay")
    server = Server("test")
    server.skills(folder, watch=True)
    async with ScriptedClient(server) as client:
        write(folder, {"new/SKILL.md": "broken"})
        write(folder, {"new/SKILL.md": manifest("new")})
        while "skill://new/SKILL.md" not in [resource.uri for resource in server.resources.list()]:
            await client.receive()
    await server.stop()
