"""The list of skills, and every rule for its entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_SKILLS
from assay.lab.harness import ABSENT, FaultContext, Json, Observation, Stage, Trace, error_reply, observe
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.trace.listing import Listing
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite import skill_entry
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.extension_method import SKILLS
from assay.lab.suite.self_description import as_object
from assay.lab.suite.skill_entry import MANIFEST, Entry, files_of, name_in, uri_of
from assay.lab.suite.skill_frontmatter import frontmatter_of, says
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from .listing import (
    bytes_in,
    declared_settings,
    edited_results,
    files_read,
    listed_entries,
    observe_pages,
    on_reply,
    on_result,
    skill_listings,
    text_in,
)

# --- what is asked

UNKNOWN_SKILL: Final = "skill://assay-lab-knows-of-no-such-skill/SKILL.md"
MOST: Final = 16
"""Files that are read of a skill: enough to compare their digests."""


@official_scenario("sep-2640-skills-enumeration", "List skills and read their files", needs=(HAS_SKILLS,))
async def drive_sep_2640_skills_enumeration(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    entries = [item for item in await peer.pages("skills/list", "skills") if isinstance(item, dict)]
    uris = [uri for uri in map(uri_of, entries) if uri]
    if uris:
        await peer.request("skills/get", {"uri": uris[0]})
        await peer.request("skills/get", {"uri": UNKNOWN_SKILL})
    await _read_files(peer, entries)


async def _read_files(peer: Peer, entries: list[Entry]) -> None:
    """The manifests, and the files of the first skill that lists them."""
    manifests = [uri for uri in map(uri_of, entries) if uri and uri.endswith(f"/{MANIFEST}")]
    files = next((files for files in map(files_of, entries) if files), [])
    for uri in dict.fromkeys([*manifests[:MOST], *filter(None, map(uri_of, files[:MOST]))]):
        await peer.request("resources/read", {"uri": uri})


# --- how it is judged

P: Final = "sep-2640-"
ENVELOPE: Final = ("config", "specVersion", "stability", "id")
# Requirement → the faults of an entry, and what is expected.
ENTRY_RULES: Final = {
    f"{P}entry-uri-required": (skill_entry.uri_faults, "the URI of its SKILL.md"),
    f"{P}entry-frontmatter-required": (skill_entry.frontmatter_faults, "a name and a description"),
    f"{P}entry-uri-matches-frontmatter-name": (skill_entry.name_faults, "the name of its directory"),
    f"{P}skill-uri-scheme": (skill_entry.scheme_faults, "skill://"),
    f"{P}entry-resources-required": (skill_entry.resources_faults, 'a list of files, or "dynamic"'),
    f"{P}resources-complete": (skill_entry.complete_faults, "each file once, SKILL.md among them"),
    f"{P}resources-uri-within-skill": (skill_entry.within_faults, "files in the directory of the skill"),
    f"{P}resources-digest-format": (skill_entry.digest_faults, "sha256: and 64 lower-case hex digits"),
    f"{P}resources-size-required": (skill_entry.size_faults, "the size of each file in bytes"),
    f"{P}limit-resources-per-skill": (skill_entry.count_faults, f"at most {skill_entry.MOST_FILES} files"),
    f"{P}limit-total-size": (skill_entry.total_faults, f"at most {skill_entry.MOST_BYTES} bytes"),
    f"{P}metadata-reserved-prefix": (skill_entry.reserved_faults, f"no key under {skill_entry.RESERVED}"),
    f"{P}name-naming-rules": (skill_entry.naming_faults, "1 to 64 of a-z, 0-9 and single hyphens inside"),
    f"{P}authority-reg-name": (skill_entry.authority_faults, "a reg-name of RFC 3986"),
}
OTHERS: Final = (
    *("capability-declaration-inline", "capability-requires-resources", "capability-commits-to-methods"),
    *("capability-empty-object", "skills-list-implemented", "skills-list-pagination"),
    *("skills-list-entry-atomic", "skills-list-cache-attributes", "names-should-be-unique"),
    *("skills-get-implemented", "skills-get-entry-shape", "skills-get-cache-attributes"),
    *("skills-get-no-cursor", "skills-get-unknown-uri-invalid-params"),
    *("skillmd-required", "skillmd-frontmatter", "entry-frontmatter-identical"),
)


@official_check(
    "sep-2640-skills-enumeration",
    "Skills are listed, described and readable",
    requirements=(*ENTRY_RULES, *(f"{P}{name}" for name in OTHERS)),
)
def judge_sep_2640_skills_enumeration(trace: Trace) -> Iterator[Observation]:
    yield from _judge_declaration(trace)
    for listing in skill_listings(trace):
        yield from _judge_listing(listing)
    for page, entry in listed_entries(trace):
        for requirement, (faults_of, expected) in ENTRY_RULES.items():
            faults = faults_of(entry)
            if faults is not None:
                faults = [f"{entry.get('uri')}: {fault}" for fault in faults]
                yield no_faults(requirement, faults, page, expected=expected)
    yield from _judge_get(trace)
    yield from _judge_files(trace)


def _judge_declaration(trace: Trace) -> Iterator[Observation]:
    for exchange, settings, capabilities in declared_settings(trace):
        is_object = isinstance(settings, dict)
        yield observe(
            f"{P}capability-empty-object", is_object, exchange, expected="an object", observed=repr(settings)
        )
        if is_object:
            faults = [f"the key {key!r}" for key in ENVELOPE if key in settings]
            expected = "the settings without an envelope"
            yield no_faults(f"{P}capability-declaration-inline", faults, exchange, expected=expected)
        yield observe(
            f"{P}capability-requires-resources",
            isinstance(capabilities.get("resources"), dict),
            exchange,
            expected="the capability `resources`, too",
            observed="no such capability",
        )


def _judge_listing(listing: Listing) -> Iterator[Observation]:
    first = listing.pages[0]
    if first.answer is None:
        return
    is_list = isinstance((first.result or {}).get("skills"), list)
    for requirement in (f"{P}skills-list-implemented", f"{P}capability-commits-to-methods"):
        yield observe(requirement, is_list, first, expected="a result with a list of skills", observed=first)
    if first.result is None:
        return
    yield observe_pages(f"{P}skills-list-pagination", listing)
    uris = [{uri_of(item) for item in page.objects("skills")} - {None} for page in listing.pages]
    pages = Counter(uri for page in uris for uri in page)
    faults = [f"{uri} on {times} pages" for uri, times in pages.items() if times > 1]
    yield no_faults(f"{P}skills-list-entry-atomic", faults, listing, expected="each skill on one page")
    names = Counter(name_in(uri_of(item) or "") for item in listing.items)
    if names:
        repeated = [f"{name} {times} times" for name, times in names.items() if name and times > 1]
        yield no_faults(f"{P}names-should-be-unique", repeated, listing, expected="each name once")
    for page in listing.pages:
        if page.result is not None:
            yield _judge_caching(f"{P}skills-list-cache-attributes", page, page.result)


def _judge_caching(requirement: str, exchange: Exchange, result: dict[str, Any]) -> Observation:
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    holds = skill_entry.is_size(ttl) and scope in ("public", "private")
    observed = f"ttlMs {ttl!r}; cacheScope {scope!r}"
    return observe(requirement, holds, exchange, expected="ttlMs and cacheScope", observed=observed)


def _judge_get(trace: Trace) -> Iterator[Observation]:
    listed = {uri_of(entry) for _, entry in listed_entries(trace)}
    exchanges = list(answered(trace, "skills/get"))
    known = [exchange for exchange in exchanges if str(exchange.params.get("uri")) in listed]
    for exchange in known:
        for requirement in (f"{P}skills-get-implemented", f"{P}capability-commits-to-methods"):
            holds = exchange.result is not None
            yield observe(
                requirement, holds, exchange, expected="a result: the skill is listed", observed=exchange
            )
        if exchange.result is not None:
            yield from _judge_skill(exchange, exchange.result)
    for exchange in exchanges:
        if exchange not in known and any(other.result is not None for other in known):
            yield observe(
                f"{P}skills-get-unknown-uri-invalid-params",
                exchange.code == INVALID_PARAMS,
                exchange,
                expected=f"error {INVALID_PARAMS} for an unknown skill",
                observed=exchange,
            )


def _judge_skill(exchange: Exchange, result: dict[str, Any]) -> Iterator[Observation]:
    entry = as_object(result.get("skill"))
    faults = [] if entry.get("uri") == exchange.params.get("uri") else [f"uri {entry.get('uri')!r}"]
    faults += skill_entry.frontmatter_faults(entry) or []
    faults += skill_entry.resources_faults(entry) or []
    yield no_faults(f"{P}skills-get-entry-shape", faults, exchange, expected="the requested entry")
    cursor = [f"nextCursor {result['nextCursor']!r}"] if "nextCursor" in result else []
    yield no_faults(f"{P}skills-get-no-cursor", cursor, exchange, expected="no cursor: it is not a list")
    yield _judge_caching(f"{P}skills-get-cache-attributes", exchange, result)


def _judge_files(trace: Trace) -> Iterator[Observation]:
    read = files_read(trace)
    for page, entry in listed_entries(trace):
        uri = uri_of(entry)
        if uri in read and name_in(uri):
            yield from _judge_manifest(page, read[uri], entry)
        for file in files_of(entry) or ():
            exchange = read.get(str(file.get("uri")))
            data = None if exchange is None else bytes_in(exchange)
            if exchange is not None and data is not None:
                yield from _judge_content(page, exchange, file, data)


def _judge_manifest(page: Exchange, exchange: Exchange, entry: Entry) -> Iterator[Observation]:
    text = text_in(exchange)
    expected = "the text of the listed SKILL.md"
    yield observe(
        f"{P}skillmd-required", text is not None, page, exchange, expected=expected, observed=exchange
    )
    if text is None:
        return
    fields = frontmatter_of(text)
    faults = (
        skill_entry.lacking_fields(fields) if fields is not None else [f"a file beginning with {text[:20]!r}"]
    )
    expected = "frontmatter with name and description"
    yield no_faults(f"{P}skillmd-frontmatter", faults, exchange, expected=expected)
    if fields is not None and isinstance(entry.get("frontmatter"), dict):
        faults = _differences(fields, entry["frontmatter"])
        expected = "all fields of the file"
        yield no_faults(f"{P}entry-frontmatter-identical", faults, page, exchange, expected=expected)


def _differences(written: dict[str, Any], listed: dict[str, Any]) -> list[str]:
    return [
        f"{key}: {written.get(key)!r} in the file, {listed.get(key)!r} in the entry"
        for key in dict.fromkeys([*written, *listed])
        if not says(written.get(key, ""), listed.get(key))
    ]


def _judge_content(page: Exchange, exchange: Exchange, file: Entry, data: bytes) -> Iterator[Observation]:
    """Digest and size match the file; the rules for entries judge their format."""
    if isinstance(file.get("digest"), str):
        digest = f"sha256:{sha256(data).hexdigest()}"
        yield observe(
            f"{P}resources-digest-format",
            file["digest"] == digest,
            page,
            exchange,
            expected=f"the digest of the file, {digest}",
            observed=file["digest"],
        )
    if skill_entry.is_size(file.get("size")):
        yield observe(
            f"{P}resources-size-required",
            file["size"] == len(data),
            page,
            exchange,
            expected=f"the size of the file, {len(data)}",
            observed=str(file["size"]),
        )


# --- what the checks must catch

Edit = Callable[[Json], Any]


def _each_file(edit: Edit) -> Edit:
    def change(skill: Json) -> None:
        for file in skill["resources"] if skill["resources"] != "dynamic" else ():
            edit(file)

    return change


def _replace(old: str, new: str) -> Edit:
    return lambda item: item.update(uri=item["uri"].replace(old, new))


def _fields(*keys: str, **more: object) -> Edit:
    """Change the frontmatter to these fields of it, or to all of them, and more."""

    def change(skill: Json) -> None:
        fields = skill["frontmatter"]
        skill["frontmatter"] = {**{key: fields[key] for key in keys or fields}, **more}

    return change


def _add_files(skill: Json) -> None:
    if skill["resources"] != "dynamic":
        home = skill["uri"].removesuffix("SKILL.md")
        more = [{**skill["resources"][0], "uri": f"{home}{n}.md", "size": 1} for n in range(512)]
        skill["resources"] = [skill["resources"][0], *more]


def _drop_first_file(skill: Json) -> None:
    if skill["resources"] != "dynamic":
        skill["resources"] = skill["resources"][1:]


def _edit_skills(edit: Edit) -> Callable[[Json, FaultContext], None]:
    def change(result: Json, context: FaultContext) -> None:
        for skill in result["skills"]:
            edit(skill)

    return change


ENTRY_FAULTS: Final = tuple(
    on_result(fault, id=f"skills.{name}", breaks=f"{P}{breaks}", method="skills/list")(_edit_skills(edit))
    for name, fault, breaks, edit in (
        (
            "odd-authority",
            "puts a space into the authority",
            "authority-reg-name",
            _replace("://", "://my team/"),
        ),
        (
            "field-left-out",
            "omits a field of the file",
            "entry-frontmatter-identical",
            _fields("name", "description"),
        ),
        ("skill-undescribed", "lists no description", "entry-frontmatter-required", _fields("name")),
        (
            "files-unlisted",
            "lists no resources",
            "entry-resources-required",
            lambda skill: skill.pop("resources"),
        ),
        (
            "skill-renamed",
            "lists another name than that of the directory",
            "entry-uri-matches-frontmatter-name",
            _fields(name="another"),
        ),
        ("skill-without-uri", "lists no uri", "entry-uri-required", lambda skill: skill.pop("uri")),
        ("too-many-files", "lists 513 files for a skill", "limit-resources-per-skill", _add_files),
        (
            "too-large",
            "lists more than 16 MiB for a skill",
            "limit-total-size",
            _each_file(lambda file: file.update(size=2**24 + 1)),
        ),
        (
            "reserved-key",
            "lists metadata under io.modelcontextprotocol/",
            "metadata-reserved-prefix",
            _fields(metadata={"io.modelcontextprotocol/x": "1"}),
        ),
        ("name-with-capitals", "uses capitals", "name-naming-rules", _replace("pdf-tools", "PDF--Tools")),
        (
            "name-twice",
            "gives two skills the same name",
            "names-should-be-unique",
            _replace("acme/refunds", "acme/pdf-tools"),
        ),
        ("manifest-unlisted", "omits SKILL.md from the files", "resources-complete", _drop_first_file),
        (
            "digest-in-capitals",
            "writes digests in upper case",
            "resources-digest-format",
            _each_file(lambda file: file.update(digest=file["digest"].upper())),
        ),
        (
            "digest-of-something-else",
            "lists wrong digests",
            "resources-digest-format",
            _each_file(lambda file: file.update(digest="sha256:" + "0" * 64)),
        ),
        (
            "size-in-characters",
            "lists wrong sizes",
            "resources-size-required",
            _each_file(lambda file: file.update(size=file["size"] + 1)),
        ),
        (
            "size-unknown",
            "lists no sizes",
            "resources-size-required",
            _each_file(lambda file: file.pop("size")),
        ),
        (
            "files-elsewhere",
            "lists files in another directory",
            "resources-uri-within-skill",
            _each_file(_replace("://", "://elsewhere/")),
        ),
        ("other-scheme", "uses another scheme", "skill-uri-scheme", _replace("skill://", "acme://")),
    )
)


@on_reply("does not know skills/get", breaks="sep-2640-capability-commits-to-methods")
def get_is_missing(reply: Json, context: FaultContext) -> Json:
    is_get = context.method == "skills/get"
    return error_reply(reply, METHOD_NOT_FOUND, "method not found") if is_get else reply


@on_result(
    "returns a manifest without frontmatter", breaks=f"{P}skillmd-frontmatter", method="resources/read"
)
def manifest_bare(result: Json, context: FaultContext) -> None:
    for file in result["contents"]:
        file["text"] = file["text"].replace("---", "")


@on_reply("does not find a listed skill", breaks="sep-2640-skills-get-implemented")
def listed_and_unknown(reply: Json, context: FaultContext) -> Json:
    is_get = context.method == "skills/get"
    return error_reply(reply, INVALID_PARAMS, "no such skill") if is_get else reply


@on_reply("answers an unknown skill with -32603", breaks="sep-2640-skills-get-unknown-uri-invalid-params")
def unknown_skill_breaks(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get" and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_result("lists a skill on two pages", breaks="sep-2640-skills-list-entry-atomic", method="skills/list")
def skill_on_two_pages(result: Json, context: FaultContext) -> None:
    first = context.memory.setdefault("first", result["skills"][0])
    if "cursor" in context.params:
        result["skills"].append(first)


@on_result("returns no `skills`", breaks="sep-2640-skills-list-implemented", method="skills/list")
def skills_under_another_name(result: Json, context: FaultContext) -> None:
    result["entries"] = result.pop("skills")


SETTINGS: Final = ("capabilities", "extensions", SKILLS)
RESULT_EDITS: Final = (
    *edited_results(
        "server/discover",
        (
            "skills.settings-in-an-envelope",
            "declares its settings under `config`",
            f"{P}capability-declaration-inline",
            SETTINGS,
            {"config": {"directoryRead": True}},
        ),
        ("skills.declared-as-true", "declares `true`", f"{P}capability-empty-object", SETTINGS, True),
        (
            "skills.resources-undeclared",
            "does not declare `resources`",
            f"{P}capability-requires-resources",
            "capabilities.resources",
            ABSENT,
        ),
    ),
    *edited_results(
        "resources/read",
        ("skills.manifest-unreadable", "returns no contents", f"{P}skillmd-required", "contents", []),
    ),
    *edited_results(
        "skills/get",
        (
            "skills.entry-never-cached",
            "returns an entry without cacheScope",
            f"{P}skills-get-cache-attributes",
            "cacheScope",
            ABSENT,
        ),
        (
            "skills.another-skill",
            "returns the entry of another skill",
            f"{P}skills-get-entry-shape",
            "skill.uri",
            "skill://another/SKILL.md",
        ),
        (
            "skills.entry-with-cursor",
            "returns an entry with a cursor",
            f"{P}skills-get-no-cursor",
            "nextCursor",
            "1",
        ),
    ),
    *edited_results(
        "skills/list",
        (
            "skills.list-never-cached",
            "returns a list without ttlMs",
            f"{P}skills-list-cache-attributes",
            "ttlMs",
            ABSENT,
        ),
        ("skills.endless-list", "always returns a cursor", f"{P}skills-list-pagination", "nextCursor", "0"),
    ),
)
