"""The list of skills and every rule for its entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.evidence import answered, no_faults
from assay.lab.everything.fixture import HAS_SKILLS, SKILLS
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    on_reply,
    on_result,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.trace.listing import Listing
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS

from . import skill_entry
from .frontmatter import frontmatter_of, says
from .listing import bytes_in, declared_settings, files_read, listed_entries, skill_listings, text_in
from .skill_entry import MANIFEST, files_of, uri_of

# --- what is asked


NO_SKILL = "skill://assay-lab-knows-of-no-such-skill/SKILL.md"
MOST = 16
"""Files of a skill that are read: enough to see whether its digests are those of its files."""


@official_scenario(
    "sep-2640-skills-enumeration", "Skills are listed, described and can be read", needs=(HAS_SKILLS,)
)
async def drive_sep_2640_skills_enumeration(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    entries = [one for one in await peer.pages("skills/list", "skills") if isinstance(one, dict)]
    known = [uri for uri in map(uri_of, entries) if uri]
    if known:
        await peer.request("skills/get", {"uri": known[0]})
        await peer.request("skills/get", {"uri": NO_SKILL})
    await _read_files(peer, entries)


async def _read_files(peer: Peer, entries: list[dict[str, Any]]) -> None:
    """The manifest of every kind of skill, and the files of the first one that lists them."""
    manifests = [uri for uri in map(uri_of, entries) if uri and uri.endswith(f"/{MANIFEST}")]
    listing = next((files for files in map(files_of, entries) if files), [])
    for uri in dict.fromkeys([*manifests[:MOST], *filter(None, map(uri_of, listing[:MOST]))]):
        await peer.request("resources/read", {"uri": uri})


# --- how it is judged


P = "sep-2640-"
ENVELOPE = ("config", "specVersion", "stability", "id")


# Row → what is wrong with one entry by it, and what it should be like.
ENTRY_RULES = {
    f"{P}entry-uri-required": (skill_entry.uri_faults, "the URI of its SKILL.md"),
    f"{P}entry-frontmatter-required": (skill_entry.frontmatter_faults, "a name and a description"),
    f"{P}entry-uri-matches-frontmatter-name": (
        skill_entry.name_faults,
        "the name of the skill before SKILL.md",
    ),
    f"{P}skill-uri-scheme": (skill_entry.scheme_faults, "skill://"),
    f"{P}entry-resources-required": (skill_entry.resources_faults, 'a list of files, or "dynamic"'),
    f"{P}resources-complete": (skill_entry.complete_faults, "each file once, SKILL.md among them"),
    f"{P}resources-uri-within-skill": (skill_entry.within_faults, "files in the directory of the skill"),
    f"{P}resources-digest-format": (
        skill_entry.digest_faults,
        "sha256: and 64 lower-case hexadecimal digits",
    ),
    f"{P}resources-size-required": (skill_entry.size_faults, "the size of each file in bytes"),
    f"{P}limit-resources-per-skill": (skill_entry.count_faults, f"{skill_entry.MOST_FILES} files at most"),
    f"{P}limit-total-size": (skill_entry.total_faults, f"{skill_entry.MOST_BYTES} bytes at most"),
    f"{P}metadata-reserved-prefix": (
        skill_entry.reserved_faults,
        f"no key that begins with {skill_entry.RESERVED}",
    ),
    f"{P}name-naming-rules": (skill_entry.naming_faults, "1 to 64 of a-z, 0-9 and single hyphens inside"),
    f"{P}authority-reg-name": (skill_entry.authority_faults, "a reg-name of RFC 3986"),
}
OTHERS = (
    *("capability-declaration-inline", "capability-requires-resources", "capability-commits-to-methods"),
    *("capability-empty-object", "skills-list-implemented", "skills-list-pagination"),
    *("skills-list-entry-atomic", "skills-list-cache-attributes", "names-should-be-unique"),
    *("skills-get-implemented", "skills-get-entry-shape", "skills-get-cache-attributes"),
    *("skills-get-no-cursor", "skills-get-unknown-uri-invalid-params"),
    *("skillmd-required", "skillmd-frontmatter", "entry-frontmatter-identical"),
)


@official_check(
    "sep-2640-skills-enumeration",
    "Skills are listed, described and can be read",
    requirements=(*ENTRY_RULES, *(f"{P}{name}" for name in OTHERS)),
)
def judge_sep_2640_skills_enumeration(trace: Trace) -> Iterator[Observation]:
    yield from _judge_declaration(trace)
    for listing in skill_listings(trace):
        yield from _judge_listing(listing)
    for page, entry in listed_entries(trace):
        yield from _judge_entry(page, entry)
    yield from _judge_get(trace)
    yield from _judge_files(trace)


def _judge_declaration(trace: Trace) -> Iterator[Observation]:
    for exchange, settings, capabilities in declared_settings(trace):
        is_object = isinstance(settings, dict)
        faults = [] if is_object else [repr(settings)]
        yield no_faults(
            f"{P}capability-empty-object", faults, exchange, expected="an object, which may be empty"
        )
        if is_object:
            faults = [f"the key {key!r}" for key in ENVELOPE if key in settings]
            yield no_faults(
                f"{P}capability-declaration-inline", faults, exchange, expected="the settings themselves"
            )
        lacks = [] if isinstance(capabilities.get("resources"), dict) else ["no such capability"]
        yield no_faults(
            f"{P}capability-requires-resources", lacks, exchange, expected="the capability `resources`, too"
        )


def _judge_listing(listing: Listing) -> Iterator[Observation]:
    first, *others = listing.pages
    if first.answer is None:
        return
    faults = [] if isinstance((first.result or {}).get("skills"), list) else [str(first)]
    for row in (f"{P}skills-list-implemented", f"{P}capability-commits-to-methods"):
        yield no_faults(row, faults, first, expected="a result with a list of skills")
    if first.result is None:
        return
    refused = [str(page) for page in others if page.result is None]
    endless = [] if refused or listing.complete else [f"a cursor after {len(listing.pages)} pages"]
    yield no_faults(
        f"{P}skills-list-pagination", refused + endless, *listing.pages[-2:], expected="a last page"
    )
    yield no_faults(
        f"{P}skills-list-entry-atomic", _scattered(listing), listing, expected="each skill on one page"
    )
    names = Counter(skill_entry.name_in(skill_entry.uri_of(item) or "") for item in listing.items)
    twice = [f"{name} {times} times" for name, times in names.items() if name and times > 1]
    if names:
        yield no_faults(f"{P}names-should-be-unique", twice, listing, expected="each name once")
    for page in listing.pages:
        if page.result is not None:
            yield _judge_caching(f"{P}skills-list-cache-attributes", page, page.result)


def _scattered(listing: Listing) -> list[str]:
    pages = [{skill_entry.uri_of(item) for item in page.objects("skills")} - {None} for page in listing.pages]
    places = Counter(uri for uris in pages for uri in uris)
    return [f"{uri} on {times} pages" for uri, times in places.items() if times > 1]


def _judge_caching(row: str, exchange: Exchange, result: dict[str, Any]) -> Observation:
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    faults = [] if skill_entry.is_size(ttl) else [f"ttlMs {ttl!r}"]
    faults += [] if scope in ("public", "private") else [f"cacheScope {scope!r}"]
    return no_faults(row, faults, exchange, expected="ttlMs and cacheScope")


def _judge_entry(page: Exchange, entry: skill_entry.Entry) -> Iterator[Observation]:
    for row, (faults_of, expected) in ENTRY_RULES.items():
        faults = faults_of(entry)
        if faults is not None:
            told = [f"{entry.get('uri')}: {fault}" for fault in faults]
            yield no_faults(row, told, page, expected=expected)


def _judge_get(trace: Trace) -> Iterator[Observation]:
    listed = {skill_entry.uri_of(entry) for _, entry in listed_entries(trace)}
    asked = list(answered(trace, "skills/get"))
    known = [one for one in asked if str(one.params.get("uri")) in listed]
    for exchange in known:
        faults = [] if exchange.result is not None else [str(exchange)]
        for row in (f"{P}skills-get-implemented", f"{P}capability-commits-to-methods"):
            yield no_faults(row, faults, exchange, expected="a result: the skill is listed")
        if exchange.result is not None:
            yield from _judge_got(exchange, exchange.result)
    for exchange in asked:
        if exchange not in known and any(one.result is not None for one in known):
            faults = [] if exchange.code == INVALID_PARAMS else [str(exchange)]
            row = f"{P}skills-get-unknown-uri-invalid-params"
            yield no_faults(row, faults, exchange, expected=f"error {INVALID_PARAMS}: there is no such skill")


def _judge_got(exchange: Exchange, result: dict[str, Any]) -> Iterator[Observation]:
    skill = result.get("skill")
    entry = skill if isinstance(skill, dict) else {}
    faults = [] if entry.get("uri") == exchange.params.get("uri") else [f"uri {entry.get('uri')!r}"]
    faults += skill_entry.frontmatter_faults(entry) or []
    faults += skill_entry.resources_faults(entry) or []
    yield no_faults(f"{P}skills-get-entry-shape", faults, exchange, expected="the entry that was asked for")
    cursor = [f"nextCursor {result['nextCursor']!r}"] if "nextCursor" in result else []
    yield no_faults(f"{P}skills-get-no-cursor", cursor, exchange, expected="no cursor: one entry is no list")
    yield _judge_caching(f"{P}skills-get-cache-attributes", exchange, result)


def _judge_files(trace: Trace) -> Iterator[Observation]:
    read = files_read(trace)
    for page, entry in listed_entries(trace):
        uri = skill_entry.uri_of(entry)
        if uri in read and skill_entry.name_in(uri):
            yield from _judge_manifest(page, read[uri], entry)
        for file in skill_entry.files_of(entry) or ():
            exchange = read.get(str(file.get("uri")))
            data = None if exchange is None else bytes_in(exchange)
            if exchange is not None and data is not None:
                yield from _judge_content(page, exchange, file, data)


def _judge_manifest(page: Exchange, exchange: Exchange, entry: skill_entry.Entry) -> Iterator[Observation]:
    text = text_in(exchange)
    faults = [] if text is not None else [str(exchange)]
    yield no_faults(
        f"{P}skillmd-required", faults, page, exchange, expected="the text of the listed SKILL.md"
    )
    if text is None:
        return
    fields = frontmatter_of(text)
    faults = skill_entry.lacking_fields(fields) if fields is not None else [f"a beginning like {text[:20]!r}"]
    yield no_faults(
        f"{P}skillmd-frontmatter", faults, exchange, expected="frontmatter with name and description"
    )
    if fields is not None and isinstance(entry.get("frontmatter"), dict):
        faults = _differences(fields, entry["frontmatter"])
        yield no_faults(
            f"{P}entry-frontmatter-identical",
            faults,
            page,
            exchange,
            expected="the fields of the file, all of them",
        )


def _differences(written: dict[str, Any], listed: dict[str, Any]) -> list[str]:
    return [
        f"{key}: {written.get(key)!r} in the file, {listed.get(key)!r} in the entry"
        for key in dict.fromkeys([*written, *listed])
        if not says(written.get(key, ""), listed.get(key))
    ]


def _judge_content(
    page: Exchange, exchange: Exchange, file: skill_entry.Entry, data: bytes
) -> Iterator[Observation]:
    """Digest and size are those of the file; what they look like is judged in the entry."""
    if isinstance(file.get("digest"), str):
        digest = f"sha256:{sha256(data).hexdigest()}"
        faults = [] if file["digest"] == digest else [f"{file['digest']} of a file that has {digest}"]
        yield no_faults(
            f"{P}resources-digest-format", faults, page, exchange, expected="the digest of the file"
        )
    if skill_entry.is_size(file.get("size")):
        faults = [] if file["size"] == len(data) else [f"{file['size']} for {len(data)} bytes"]
        yield no_faults(
            f"{P}resources-size-required", faults, page, exchange, expected="the size of the file"
        )


# --- what the checks must catch


@on_result(
    "the first segment has a space", breaks="sep-2640-authority-reg-name", double=DOUBLE, method="skills/list"
)
def odd_authority(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["uri"] = skill["uri"].replace("skill://", "skill://my team/")


@on_reply("skills/get is unknown", breaks="sep-2640-capability-commits-to-methods", double=DOUBLE)
def get_is_missing(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get":
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32601, "message": "method not found"}}
    return reply


@on_result(
    "an entry leaves out a field of the file",
    breaks="sep-2640-entry-frontmatter-identical",
    double=DOUBLE,
    method="skills/list",
)
def field_left_out(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["frontmatter"] = {key: skill["frontmatter"][key] for key in ("name", "description")}


@on_result(
    "an entry has no description",
    breaks="sep-2640-entry-frontmatter-required",
    double=DOUBLE,
    method="skills/list",
)
def skill_undescribed(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["frontmatter"] = {"name": skill["frontmatter"]["name"]}


@on_result(
    "an entry has no resources",
    breaks="sep-2640-entry-resources-required",
    double=DOUBLE,
    method="skills/list",
)
def files_unlisted(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        del skill["resources"]


@on_result(
    "the name is not that of the directory",
    breaks="sep-2640-entry-uri-matches-frontmatter-name",
    double=DOUBLE,
    method="skills/list",
)
def skill_renamed(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["frontmatter"] = {**skill["frontmatter"], "name": "another"}


@on_result("an entry has no uri", breaks="sep-2640-entry-uri-required", double=DOUBLE, method="skills/list")
def skill_without_uri(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        del skill["uri"]


@on_result(
    "a skill has 513 files", breaks="sep-2640-limit-resources-per-skill", double=DOUBLE, method="skills/list"
)
def too_many_files(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        if skill["resources"] != "dynamic":
            home = skill["uri"].removesuffix("SKILL.md")
            more = [{**skill["resources"][0], "uri": f"{home}{n}.md", "size": 1} for n in range(512)]
            skill["resources"] = [skill["resources"][0], *more]


@on_result(
    "a skill has more than 16 MiB", breaks="sep-2640-limit-total-size", double=DOUBLE, method="skills/list"
)
def too_large(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            file["size"] = 2**24 + 1


@on_result(
    "metadata has a key under io.modelcontextprotocol/",
    breaks="sep-2640-metadata-reserved-prefix",
    double=DOUBLE,
    method="skills/list",
)
def reserved_key(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["frontmatter"] = {**skill["frontmatter"], "metadata": {"io.modelcontextprotocol/x": "1"}}


@on_result("a name has capitals", breaks="sep-2640-name-naming-rules", double=DOUBLE, method="skills/list")
def name_with_capitals(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["uri"] = skill["uri"].replace("pdf-tools", "PDF--Tools")


@on_result(
    "a name is there twice", breaks="sep-2640-names-should-be-unique", double=DOUBLE, method="skills/list"
)
def name_twice(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["uri"] = skill["uri"].replace("acme/refunds", "acme/pdf-tools")


@on_result(
    "the files lack SKILL.md", breaks="sep-2640-resources-complete", double=DOUBLE, method="skills/list"
)
def manifest_unlisted(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        if skill["resources"] != "dynamic":
            skill["resources"] = skill["resources"][1:]


@on_result(
    "a digest has upper-case digits",
    breaks="sep-2640-resources-digest-format",
    double=DOUBLE,
    method="skills/list",
)
def digest_in_capitals(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            file["digest"] = file["digest"].upper()


@on_result(
    "a digest is that of something else",
    breaks="sep-2640-resources-digest-format",
    double=DOUBLE,
    method="skills/list",
)
def digest_of_something_else(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            file["digest"] = "sha256:" + "0" * 64


@on_result(
    "a size is that of something else",
    breaks="sep-2640-resources-size-required",
    double=DOUBLE,
    method="skills/list",
)
def size_in_characters(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            file["size"] += 1


@on_result(
    "a file has no size", breaks="sep-2640-resources-size-required", double=DOUBLE, method="skills/list"
)
def size_unknown(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            del file["size"]


@on_result(
    "a file is in another directory",
    breaks="sep-2640-resources-uri-within-skill",
    double=DOUBLE,
    method="skills/list",
)
def files_elsewhere(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            file["uri"] = file["uri"].replace("skill://", "skill://elsewhere/")


@on_result(
    "skills are served under another scheme",
    breaks="sep-2640-skill-uri-scheme",
    double=DOUBLE,
    method="skills/list",
)
def other_scheme(result: Json, context: FaultContext) -> None:
    for skill in result["skills"]:
        skill["uri"] = skill["uri"].replace("skill://", "acme://")


@on_result(
    "a manifest has no frontmatter",
    breaks="sep-2640-skillmd-frontmatter",
    double=DOUBLE,
    method="resources/read",
)
def manifest_bare(result: Json, context: FaultContext) -> None:
    for file in result["contents"]:
        file["text"] = file["text"].replace("---", "")


@on_reply("skills/get does not know a listed skill", breaks="sep-2640-skills-get-implemented", double=DOUBLE)
def listed_and_unknown(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get":
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "no such skill"}}
    return reply


@on_reply(
    "an unknown skill is answered with -32603",
    breaks="sep-2640-skills-get-unknown-uri-invalid-params",
    double=DOUBLE,
)
def unknown_skill_breaks(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get" and "error" in reply:
        reply["error"]["code"] = -32603
    return reply


@on_result(
    "a skill is on two pages", breaks="sep-2640-skills-list-entry-atomic", double=DOUBLE, method="skills/list"
)
def skill_on_two_pages(result: Json, context: FaultContext) -> None:
    first = context.memory.setdefault("first", result["skills"][0])
    if "cursor" in context.params:
        result["skills"].append(first)


@on_result(
    "skills/list has no `skills`",
    breaks="sep-2640-skills-list-implemented",
    double=DOUBLE,
    method="skills/list",
)
def skills_under_another_name(result: Json, context: FaultContext) -> None:
    result["entries"] = result.pop("skills")


RESULT_EDITS: Final = (
    *edited_results(
        "server/discover",
        (
            "skills.settings-in-an-envelope",
            "the settings are under `config`",
            "sep-2640-capability-declaration-inline",
            ("capabilities", "extensions", SKILLS),
            {"config": {"directoryRead": True}},
        ),
        (
            "skills.declared-as-true",
            "the extension is declared with `true`",
            "sep-2640-capability-empty-object",
            ("capabilities", "extensions", SKILLS),
            True,
        ),
        (
            "skills.resources-undeclared",
            "`resources` is not declared",
            "sep-2640-capability-requires-resources",
            "capabilities.resources",
            ABSENT,
        ),
        double=DOUBLE,
    ),
    *edited_results(
        "resources/read",
        (
            "skills.manifest-unreadable",
            "a manifest that is listed has no contents",
            "sep-2640-skillmd-required",
            "contents",
            [],
        ),
        double=DOUBLE,
    ),
    *edited_results(
        "skills/get",
        (
            "skills.entry-never-cached",
            "skills/get has no cacheScope",
            "sep-2640-skills-get-cache-attributes",
            "cacheScope",
            ABSENT,
        ),
        (
            "skills.another-skill",
            "skills/get gives the entry of another skill",
            "sep-2640-skills-get-entry-shape",
            "skill.uri",
            "skill://another/SKILL.md",
        ),
        (
            "skills.entry-with-cursor",
            "skills/get has a cursor",
            "sep-2640-skills-get-no-cursor",
            "nextCursor",
            "1",
        ),
        double=DOUBLE,
    ),
    *edited_results(
        "skills/list",
        (
            "skills.list-never-cached",
            "skills/list has no ttlMs",
            "sep-2640-skills-list-cache-attributes",
            "ttlMs",
            ABSENT,
        ),
        (
            "skills.endless-list",
            "skills/list always has another page",
            "sep-2640-skills-list-pagination",
            "nextCursor",
            "0",
        ),
        double=DOUBLE,
    ),
)
