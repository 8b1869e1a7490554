"""Skills of any server: entries, files and directories."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_result,
    result_reply,
    scenario,
)
from assay.lab.harness.need import declares
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.extension_method import SKILLS
from assay.lab.suite.self_description import as_object
from assay.lab.suite.skill_entry import (
    MANIFEST,
    Entry,
    complete_faults,
    digest_faults,
    directory_of,
    files_of,
    frontmatter_faults,
    name_faults,
    resources_faults,
    scheme_faults,
    size_faults,
    subdirectories,
    uri_of,
    within_faults,
)
from assay.lab.suite.skill_frontmatter import frontmatter_of, says
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.revision import Opening, Revision, TaskForm

# --- what is asked


LIST, GET, DIRECTORY, READ = "skills/list", "skills/get", "resources/directory/read", "resources/read"
UNKNOWN: Final = "skill://no-such-skill-of-the-lab/SKILL.md"
MOST_SKILLS, MOST_FILES = 5, 10


def has_extensions(revision: Revision) -> bool:
    """The two revisions that the extensions were written for."""
    return revision.tasks is not TaskForm.ABSENT


@scenario(
    "List, get and read skills",
    exercises=("skills.served", "skills.entries", "skills.files", "skills.directories"),
    needs=(declares("extensions", SKILLS),),
    window=has_extensions,
)
async def drive_published(stage: Stage) -> None:
    peer = await stage.open()
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    listed = [as_object(item) for item in await peer.pages(LIST, "skills")]
    await peer.request(GET, {"uri": UNKNOWN})
    reads_directories = stage.facts.declares("extensions", SKILLS, "directoryRead")
    for entry in [entry for entry in listed if uri_of(entry)][:MOST_SKILLS]:
        uri = str(uri_of(entry))
        await peer.request(GET, {"uri": uri})
        files = [str(file.get("uri")) for file in files_of(entry) or ()]
        for name in dict.fromkeys([uri, *files[:MOST_FILES]]):
            await peer.request(READ, {"uri": name})
        if reads_directories:
            for directory in (directory_of(uri), *subdirectories(entry)[:MOST_FILES], uri):
                await peer.request(DIRECTORY, {"uri": directory})


# --- how it is judged


@check(
    "Skills are listed and served",
    requirements={
        "XS-01": "A method of skills is not implemented",
        "XS-02": "`skills/get` does not have a listed skill, or has an unknown one",
    },
)
def judge_served(trace: Trace) -> Iterator[Observation]:
    for method in (LIST, GET):
        for exchange in answered(trace, method):
            expected = "an implemented method"
            is_known = exchange.code != METHOD_NOT_FOUND
            yield observe("XS-01", is_known, exchange, expected=expected, observed=exchange)
    for page in answered(trace, LIST):
        if "cursor" not in page.params:
            is_list = isinstance((page.result or {}).get("skills"), list)
            yield observe("XS-01", is_list, page, expected="a list of skills", observed=page)
    for exchange in answered(trace, GET):
        uri = exchange.params.get("uri")
        if uri == UNKNOWN:
            holds, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS}"
        else:
            skill = as_object((exchange.result or {}).get("skill"))
            holds, expected = skill.get("uri") == uri, f"the entry of {uri}"
        yield observe("XS-02", holds, exchange, expected=expected, observed=exchange)


ENTRY_RULES: Final[tuple[tuple[str, Callable[[Entry], list[str] | None], str], ...]] = (
    ("XS-03", frontmatter_faults, "a name and a description"),
    ("XS-03", name_faults, "the name of the directory"),
    ("XS-04", resources_faults, 'a list of files, or "dynamic"'),
    ("XS-04", complete_faults, "each file once, SKILL.md among them"),
    ("XS-04", within_faults, "files in the directory of the skill"),
    ("XS-04", digest_faults, "sha256: and 64 lower-case hex digits"),
    ("XS-04", size_faults, "the size of each file in bytes"),
    ("XS-05", scheme_faults, "skill://"),
)


@check(
    "Entries of skills are complete",
    requirements={
        "XS-03": "A skill has no name or description, or another name than its directory",
        "XS-04": "An entry does not list its files with digests and sizes",
        "XS-05": "The URI of a skill has another scheme",
    },
)
def judge_entries(trace: Trace) -> Iterator[Observation]:
    for exchange, entry in _entries(trace):
        for requirement, faults_of, expected in ENTRY_RULES:
            faults = faults_of(entry)
            if faults is not None:
                yield no_faults(requirement, faults, exchange, expected=expected)


def _entries(trace: Trace) -> Iterator[tuple[Exchange, Entry]]:
    for exchange in answered(trace, LIST):
        for entry in exchange.objects("skills"):
            yield exchange, entry
    for exchange in answered(trace, GET):
        skill = (exchange.result or {}).get("skill")
        if isinstance(skill, dict):
            yield exchange, skill


@check(
    "Files of skills are those of their entries",
    requirements={
        "XS-03": "A skill has no SKILL.md that can be read",
        "XS-04": "A file or the frontmatter differs from the entry",
        "XS-05": "SKILL.md has another type than text/markdown",
    },
)
def judge_files(trace: Trace) -> Iterator[Observation]:
    read = {str(exchange.params.get("uri")): exchange for exchange in answered(trace, READ)}
    for listing, entry in _entries(trace):
        for file in files_of(entry) or ():
            exchange = read.get(str(file.get("uri")))
            data = None if exchange is None else _bytes_in(exchange)
            if exchange is not None and data is not None:
                faults = _file_faults(file, data)
                yield no_faults("XS-04", faults, listing, exchange, expected="the file of the entry")
        manifest = read.get(uri_of(entry) or "")
        if manifest is not None:
            yield from _judge_manifest(listing, entry, manifest)


def _judge_manifest(listing: Exchange, entry: Entry, exchange: Exchange) -> Iterator[Observation]:
    data = _bytes_in(exchange)
    fields = None if data is None else frontmatter_of(data.decode("utf-8", "replace"))
    expected = "a SKILL.md with frontmatter"
    yield observe("XS-03", fields is not None, exchange, expected=expected, observed=exchange)
    if fields is not None:
        same = says(fields, entry.get("frontmatter"))
        expected = f"the frontmatter of {MANIFEST}"
        yield observe("XS-04", same, listing, exchange, expected=expected, observed=entry.get("frontmatter"))
        types = [item.get("mimeType") for item in exchange.objects("contents")]
        holds = types == ["text/markdown"]
        yield observe("XS-05", holds, exchange, expected="text/markdown", observed=repr(types))


def _bytes_in(exchange: Exchange) -> bytes | None:
    item: dict[str, Any] = next(iter(exchange.objects("contents")), {})
    text, blob = item.get("text"), item.get("blob")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    try:
        return b64decode(blob, validate=True) if isinstance(blob, str) else None
    except (Error, ValueError):
        return None


def _file_faults(file: Entry, data: bytes) -> Iterator[str]:
    digest = f"sha256:{sha256(data).hexdigest()}"
    if file.get("digest") != digest:
        yield f"digest {digest}, listed {file.get('digest')!r}"
    if file.get("size") != len(data):
        yield f"{len(data)} bytes, listed {file.get('size')!r}"


@check(
    "Directories of skills can be read, and files cannot",
    requirements={"XS-06": "A directory of a skill cannot be read, or a file is read as one"},
)
def judge_directories(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, DIRECTORY):
        uri = str(exchange.params.get("uri"))
        if uri.endswith(f"/{MANIFEST}"):
            holds, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS}: it is a file"
        else:
            names = [str(item.get("uri")) for item in exchange.objects("resources")]
            holds = bool(names) and all(name.startswith(f"{uri}/") for name in names)
            expected = "the members of the directory"
        yield observe("XS-06", holds, exchange, expected=expected, observed=exchange)


# --- what the checks must catch


@on_reply("does not implement `skills/get`", breaks="XS-01")
def get_unimplemented(reply: Json, context: FaultContext) -> Json:
    return error_reply(reply, METHOD_NOT_FOUND, "Method not found") if context.method == GET else reply


@on_reply("returns skills as an object", breaks="XS-01")
def skills_by_name(reply: Json, context: FaultContext) -> Json:
    if context.method == LIST and "result" in reply:
        reply["result"]["skills"] = {each["uri"]: each for each in reply["result"]["skills"]}
    return reply


@on_reply("returns an empty entry for an unknown skill", breaks="XS-02")
def unknown_skill_is_empty(reply: Json, context: FaultContext) -> Json:
    if context.method == GET and "error" in reply:
        return result_reply(reply, {"skill": {"uri": UNKNOWN, "frontmatter": {}, "resources": []}})
    return reply


@on_result("returns another skill than the one asked for", breaks="XS-02", method=GET)
def another_skill(result: Json, context: FaultContext) -> None:
    result["skill"]["uri"] = "skill://other/SKILL.md"


@on_reply("reports an unknown skill as error -32002", breaks="XS-02")
def unknown_skill_not_found(reply: Json, context: FaultContext) -> Json:
    return error_reply(reply, -32002, "Not found") if context.method == GET and "error" in reply else reply


@on_result("adds a byte to each file", breaks="XS-04", method=READ)
def files_changed(result: Json, context: FaultContext) -> None:
    for item in result["contents"]:
        if "text" in item:
            item["text"] += " "


@on_result("serves SKILL.md without frontmatter", breaks="XS-03", method=READ)
def manifest_without_frontmatter(result: Json, context: FaultContext) -> None:
    for item in result["contents"]:
        if item["uri"].endswith(MANIFEST):
            item["text"] = item["text"].replace("---", "***")


@on_result("serves SKILL.md as plain text", breaks="XS-05", method=READ)
def manifest_as_plain_text(result: Json, context: FaultContext) -> None:
    for item in result["contents"]:
        item["mimeType"] = "text/plain"


@on_result("uses file URIs for skills", breaks="XS-05", method=LIST)
def file_uris(result: Json, context: FaultContext) -> None:
    for entry in result["skills"]:
        entry["uri"] = entry["uri"].replace("skill:", "file:")


@on_reply("reads a file as an empty directory", breaks="XS-06")
def file_as_directory(reply: Json, context: FaultContext) -> Json:
    if context.method == DIRECTORY and "error" in reply:
        return result_reply(reply, {"resources": []})
    return reply


@on_result("lists no members of a directory", breaks="XS-06", method=DIRECTORY)
def empty_directory(result: Json, context: FaultContext) -> None:
    result["resources"] = []


@on_result("lists members of other directories", breaks="XS-06", method=DIRECTORY)
def foreign_members(result: Json, context: FaultContext) -> None:
    result["resources"].append({"uri": "file:///etc/passwd", "name": "passwd"})


@on_result("does not list SKILL.md as a file", breaks="XS-04", method=LIST)
def file_missing(result: Json, context: FaultContext) -> None:
    for entry in result["skills"]:
        entry["resources"] = [file for file in entry["resources"] if file["uri"] != entry["uri"]]


ENTRY_EDITS: Final = edited_results(
    LIST,
    ("skills.no-name", "lists a skill without a name", "XS-03", "skills.0.frontmatter.name", ABSENT),
    ("skills.other-name", "lists a skill under another name", "XS-03", "skills.0.frontmatter.name", "other"),
    (
        "skills.no-description",
        "lists a skill without a description",
        "XS-03",
        "skills.0.frontmatter.description",
        "",
    ),
    (
        "skills.other-frontmatter",
        "lists another description than SKILL.md has",
        "XS-04",
        "skills.0.frontmatter.description",
        "Something else",
    ),
    ("skills.no-files", "lists a skill without its files", "XS-04", "skills.0.resources", ABSENT),
    (
        "skills.digest-without-algorithm",
        "lists digests without `sha256:`",
        "XS-04",
        "skills.0.resources.0.digest",
        "0" * 64,
    ),
    (
        "skills.stale-digest",
        "lists the digest of another version",
        "XS-04",
        "skills.0.resources.0.digest",
        f"sha256:{'0' * 64}",
    ),
    ("skills.no-size", "lists a file without its size", "XS-04", "skills.0.resources.0.size", ABSENT),
    (
        "skills.foreign-file",
        "lists a file outside of the skill",
        "XS-04",
        "skills.0.resources.0.uri",
        "skill://other/SKILL.md",
    ),
)
