"""Checks of skills on conversations written by hand: what they let pass, and what they cannot see."""

from hashlib import sha256
from typing import Any

from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.extension_method import SKILLS
from assay.revisions.registry import PER_REQUEST
from tests.lab.everything.observing import broken, held, seen
from tests.lab.suite.conversation import error
from tests.lab.traces import request, result, stdio_trace

P = "sep-2640-"
LIST, MANIFEST, DIRECTORY = (f"{P}skills-{name}" for name in ("enumeration", "manifest", "directory"))
URI = "skill://acme/refunds/SKILL.md"
TEXT = "---\nname: refunds\ndescription: Pay back\n---\n"
FIELDS = {"name": "refunds", "description": "Pay back"}
FILE = {"uri": URI, "digest": f"sha256:{sha256(TEXT.encode()).hexdigest()}", "size": len(TEXT)}
BELOW = {**FILE, "uri": "skill://acme/refunds/letters/de.md"}
CACHED = {"ttlMs": 0, "cacheScope": "private"}
Pair = tuple[dict[str, Any], dict[str, Any]]


def talk(*pairs: Pair) -> Trace:
    turns = [turn for asked, answer in pairs for turn in ((">", asked), ("<", answer))]
    return stdio_trace(*turns, revision=PER_REQUEST[-1])


def entry(**changed: Any) -> dict[str, Any]:
    return {"uri": URI, "frontmatter": FIELDS, "resources": [FILE], **changed}


def listed(*entries: Any, number: int = 1, **more: Any) -> Pair:
    return request(number, "skills/list"), result(number, skills=list(entries), **{**CACHED, **more})


def read(text: str = TEXT, number: int = 2, **more: Any) -> Pair:
    contents = [{"uri": URI, "text": text, **more}]
    return request(number, "resources/read", uri=URI), result(number, contents=contents)


def read_directory(number: int, uri: str, *children: dict[str, Any]) -> Pair:
    return request(number, "resources/directory/read", uri=uri), result(number, resources=list(children))


def test_a_sound_skill_breaks_nothing() -> None:
    trace = talk(listed(entry()), read())
    assert not broken(LIST, trace)
    assert f"{P}entry-frontmatter-identical" in held(LIST, trace)


def test_an_empty_list_shows_nothing_of_entries() -> None:
    rows = dict(seen(LIST, talk(listed())))
    assert rows == {
        f"{P}{name}": True
        for name in (
            *("capability-commits-to-methods", "skills-list-implemented", "skills-list-pagination"),
            *("skills-list-entry-atomic", "skills-list-cache-attributes"),
        )
    }


def test_a_dynamic_skill_has_no_files_to_judge() -> None:
    trace = talk(listed(entry(resources="dynamic")), read())
    assert not broken(LIST, trace)
    assert f"{P}resources-digest-format" not in dict(seen(LIST, trace))


def test_an_entry_that_is_no_object_has_nothing() -> None:
    assert f"{P}entry-uri-required" in broken(LIST, talk(listed("refunds")))


def test_digest_and_size_are_those_of_the_file() -> None:
    found = broken(LIST, talk(listed(entry()), read(TEXT + "more")))
    assert found == {f"{P}resources-digest-format", f"{P}resources-size-required"}


def test_numbers_and_truths_of_the_file_are_those_of_the_entry() -> None:
    text = "---\nname: refunds\ndescription: Pay back\nstars: 5\nopen: true\n---\n"
    fields = {**FIELDS, "stars": 5, "open": True}
    row = f"{P}entry-frontmatter-identical"
    assert row in held(LIST, talk(listed(entry(frontmatter=fields)), read(text)))
    assert row in broken(LIST, talk(listed(entry(frontmatter={**fields, "stars": 4})), read(text)))


def test_an_unknown_skill_proves_nothing_where_no_skill_can_be_had() -> None:
    unknown = (request(3, "skills/get", uri="skill://x/SKILL.md"), error(3, -32602))
    row = f"{P}skills-get-unknown-uri-invalid-params"
    assert row not in dict(seen(LIST, talk(listed(entry()), unknown)))
    known = (request(2, "skills/get", uri=URI), result(2, skill=entry(), **CACHED))
    assert row in held(LIST, talk(listed(entry()), known, unknown))


def test_settings_that_are_no_object_have_nothing_in_them() -> None:
    capabilities = {"resources": {}, "extensions": {SKILLS: None}}
    rows = dict(seen(LIST, talk((request(1, "server/discover"), result(1, capabilities=capabilities)))))
    assert rows == {f"{P}capability-empty-object": False, f"{P}capability-requires-resources": True}


def test_a_manifest_that_is_not_listed_has_no_words_of_its_own() -> None:
    resources = (request(1, "resources/list"), result(1, resources=[], **CACHED))
    rows = dict(seen(MANIFEST, talk(resources, read(mimeType="text/markdown"))))
    assert rows == {f"{P}final-segment-equals-name": True, f"{P}skillmd-mimetype": True}


def test_a_directory_lists_what_the_entry_shows_to_be_in_it() -> None:
    skill = listed(entry(resources=[FILE, BELOW]))
    files = {"uri": URI}, {"uri": "skill://acme/refunds/letters", "mimeType": "inode/directory"}
    shape, kind = f"{P}directory-read-result-resources-shape", f"{P}directory-read-subdir-mimetype"
    whole = talk(skill, read_directory(2, "skill://acme/refunds", *files))
    assert {shape, kind} <= held(DIRECTORY, whole)
    assert shape in broken(DIRECTORY, talk(skill, read_directory(2, "skill://acme/refunds", files[0])))
    deep = read_directory(2, "skill://acme/refunds", *files, {"uri": BELOW["uri"]})
    assert shape in broken(DIRECTORY, talk(skill, deep))


def test_a_file_is_refused_only_where_directories_can_be_read() -> None:
    row = f"{P}directory-read-invalid-params"
    file = read_directory(3, URI)
    refused = (request(2, "resources/directory/read", uri="skill://acme/refunds"), error(2, -32601))
    assert row not in dict(seen(DIRECTORY, talk(listed(entry()), refused, file)))
    home = read_directory(2, "skill://acme/refunds", {"uri": URI})
    assert row in broken(DIRECTORY, talk(listed(entry()), home, file))
