"""Skills are declared, listed page by page, described by their own words, and can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from assay.lab.everything import skill_entry as rules
from assay.lab.everything.answered import answered
from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged
from assay.lab.everything.frontmatter import frontmatter_of, says
from assay.lab.everything.skill_listing import (
    bytes_in,
    declared_settings,
    files_read,
    listed_entries,
    skill_listings,
    text_in,
)
from assay.lab.harness.trace.listing import Listing
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation
from assay.model.error import INVALID_PARAMS

P = "sep-2640-"
ENVELOPE = ("config", "specVersion", "stability", "id")
# Row → what is wrong with one entry by it, and what it should be like.
ENTRY_RULES = {
    f"{P}entry-uri-required": (rules.uri_faults, "the URI of its SKILL.md"),
    f"{P}entry-frontmatter-required": (rules.frontmatter_faults, "a name and a description"),
    f"{P}entry-uri-matches-frontmatter-name": (rules.name_faults, "the name of the skill before SKILL.md"),
    f"{P}skill-uri-scheme": (rules.scheme_faults, "skill://"),
    f"{P}entry-resources-required": (rules.resources_faults, 'a list of files, or "dynamic"'),
    f"{P}resources-complete": (rules.complete_faults, "each file once, SKILL.md among them"),
    f"{P}resources-uri-within-skill": (rules.within_faults, "files in the directory of the skill"),
    f"{P}resources-digest-format": (rules.digest_faults, "sha256: and 64 lower-case hexadecimal digits"),
    f"{P}resources-size-required": (rules.size_faults, "the size of each file in bytes"),
    f"{P}limit-resources-per-skill": (rules.count_faults, f"{rules.MOST_FILES} files at most"),
    f"{P}limit-total-size": (rules.total_faults, f"{rules.MOST_BYTES} bytes at most"),
    f"{P}metadata-reserved-prefix": (rules.reserved_faults, f"no key that begins with {rules.RESERVED}"),
    f"{P}name-naming-rules": (rules.naming_faults, "1 to 64 of a-z, 0-9 and single hyphens inside"),
    f"{P}authority-reg-name": (rules.authority_faults, "a reg-name of RFC 3986"),
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
    rows=(*ENTRY_RULES, *(f"{P}{name}" for name in OTHERS)),
)
def judge(trace: Trace) -> Iterator[Observation]:
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
        yield judged(
            f"{P}capability-empty-object", faults, exchange, expected="an object, which may be empty"
        )
        if is_object:
            faults = [f"the key {key!r}" for key in ENVELOPE if key in settings]
            yield judged(
                f"{P}capability-declaration-inline", faults, exchange, expected="the settings themselves"
            )
        lacks = [] if isinstance(capabilities.get("resources"), dict) else ["no such capability"]
        yield judged(
            f"{P}capability-requires-resources", lacks, exchange, expected="the capability `resources`, too"
        )


def _judge_listing(listing: Listing) -> Iterator[Observation]:
    first, *others = listing.pages
    if first.answer is None:
        return
    faults = [] if isinstance((first.result or {}).get("skills"), list) else [str(first)]
    for row in (f"{P}skills-list-implemented", f"{P}capability-commits-to-methods"):
        yield judged(row, faults, first, expected="a result with a list of skills")
    if first.result is None:
        return
    refused = [str(page) for page in others if page.result is None]
    endless = [] if refused or listing.complete else [f"a cursor after {len(listing.pages)} pages"]
    yield judged(f"{P}skills-list-pagination", refused + endless, *listing.pages[-2:], expected="a last page")
    yield judged(
        f"{P}skills-list-entry-atomic", _scattered(listing), listing, expected="each skill on one page"
    )
    names = Counter(rules.name_in(rules.uri_of(item) or "") for item in listing.items)
    twice = [f"{name} {times} times" for name, times in names.items() if name and times > 1]
    if names:
        yield judged(f"{P}names-should-be-unique", twice, listing, expected="each name once")
    for page in listing.pages:
        if page.result is not None:
            yield _judge_caching(f"{P}skills-list-cache-attributes", page, page.result)


def _scattered(listing: Listing) -> list[str]:
    pages = [{rules.uri_of(item) for item in page.objects("skills")} - {None} for page in listing.pages]
    places = Counter(uri for uris in pages for uri in uris)
    return [f"{uri} on {times} pages" for uri, times in places.items() if times > 1]


def _judge_caching(row: str, exchange: Exchange, result: dict[str, Any]) -> Observation:
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    faults = [] if rules.is_size(ttl) else [f"ttlMs {ttl!r}"]
    faults += [] if scope in ("public", "private") else [f"cacheScope {scope!r}"]
    return judged(row, faults, exchange, expected="ttlMs and cacheScope")


def _judge_entry(page: Exchange, entry: rules.Entry) -> Iterator[Observation]:
    for row, (faults_of, expected) in ENTRY_RULES.items():
        faults = faults_of(entry)
        if faults is not None:
            told = [f"{entry.get('uri')}: {fault}" for fault in faults]
            yield judged(row, told, page, expected=expected)


def _judge_get(trace: Trace) -> Iterator[Observation]:
    listed = {rules.uri_of(entry) for _, entry in listed_entries(trace)}
    asked = list(answered(trace, "skills/get"))
    known = [one for one in asked if str(one.params.get("uri")) in listed]
    for exchange in known:
        faults = [] if exchange.result is not None else [str(exchange)]
        for row in (f"{P}skills-get-implemented", f"{P}capability-commits-to-methods"):
            yield judged(row, faults, exchange, expected="a result: the skill is listed")
        if exchange.result is not None:
            yield from _judge_got(exchange, exchange.result)
    for exchange in asked:
        if exchange not in known and any(one.result is not None for one in known):
            faults = [] if exchange.code == INVALID_PARAMS else [str(exchange)]
            row = f"{P}skills-get-unknown-uri-invalid-params"
            yield judged(row, faults, exchange, expected=f"error {INVALID_PARAMS}: there is no such skill")


def _judge_got(exchange: Exchange, result: dict[str, Any]) -> Iterator[Observation]:
    skill = result.get("skill")
    entry = skill if isinstance(skill, dict) else {}
    faults = [] if entry.get("uri") == exchange.params.get("uri") else [f"uri {entry.get('uri')!r}"]
    faults += rules.frontmatter_faults(entry) or []
    faults += rules.resources_faults(entry) or []
    yield judged(f"{P}skills-get-entry-shape", faults, exchange, expected="the entry that was asked for")
    cursor = [f"nextCursor {result['nextCursor']!r}"] if "nextCursor" in result else []
    yield judged(f"{P}skills-get-no-cursor", cursor, exchange, expected="no cursor: one entry is no list")
    yield _judge_caching(f"{P}skills-get-cache-attributes", exchange, result)


def _judge_files(trace: Trace) -> Iterator[Observation]:
    read = files_read(trace)
    for page, entry in listed_entries(trace):
        uri = rules.uri_of(entry)
        if uri in read and rules.name_in(uri):
            yield from _judge_manifest(page, read[uri], entry)
        for file in rules.files_of(entry) or ():
            exchange = read.get(str(file.get("uri")))
            data = None if exchange is None else bytes_in(exchange)
            if exchange is not None and data is not None:
                yield from _judge_content(page, exchange, file, data)


def _judge_manifest(page: Exchange, exchange: Exchange, entry: rules.Entry) -> Iterator[Observation]:
    text = text_in(exchange)
    faults = [] if text is not None else [str(exchange)]
    yield judged(f"{P}skillmd-required", faults, page, exchange, expected="the text of the listed SKILL.md")
    if text is None:
        return
    fields = frontmatter_of(text)
    faults = rules.lacking_fields(fields) if fields is not None else [f"a beginning like {text[:20]!r}"]
    yield judged(
        f"{P}skillmd-frontmatter", faults, exchange, expected="frontmatter with name and description"
    )
    if fields is not None and isinstance(entry.get("frontmatter"), dict):
        faults = _differences(fields, entry["frontmatter"])
        yield judged(
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
    page: Exchange, exchange: Exchange, file: rules.Entry, data: bytes
) -> Iterator[Observation]:
    """Digest and size are those of the file; what they look like is judged in the entry."""
    if isinstance(file.get("digest"), str):
        digest = f"sha256:{sha256(data).hexdigest()}"
        faults = [] if file["digest"] == digest else [f"{file['digest']} of a file that has {digest}"]
        yield judged(f"{P}resources-digest-format", faults, page, exchange, expected="the digest of the file")
    if rules.is_size(file.get("size")):
        faults = [] if file["size"] == len(data) else [f"{file['size']} for {len(data)} bytes"]
        yield judged(f"{P}resources-size-required", faults, page, exchange, expected="the size of the file")
