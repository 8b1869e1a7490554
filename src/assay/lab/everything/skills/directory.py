"""Directories of skills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_SKILLS
from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    error_reply,
    observe,
    result_reply,
)
from assay.lab.harness.driver.peer import PAGES, Peer
from assay.lab.harness.need import declares
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.extension_method import SKILLS
from assay.lab.suite.self_description import as_object
from assay.lab.suite.skill_entry import Entry, children, directory_of, name_in, subdirectories, uri_of
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

from .listing import declared_settings, edited_results, listed_entries, observe_pages, on_reply, on_result

# --- what is asked


METHOD = "resources/directory/read"


@official_scenario(
    "sep-2640-skills-directory",
    "Read the directories of a skill",
    needs=(HAS_SKILLS, declares("extensions", SKILLS, "directoryRead")),
)
async def drive_sep_2640_skills_directory(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    entries = [item for item in await peer.pages("skills/list", "skills") if isinstance(item, dict)]
    skills = [entry for entry in entries if name_in(uri_of(entry) or "")]
    if skills:
        await _read(peer, max(skills, key=lambda entry: len(subdirectories(entry))))


async def _read(peer: Peer, entry: Entry) -> None:
    uri = str(uri_of(entry))
    await _pages(peer, str(directory_of(uri)))
    for below in subdirectories(entry)[:1]:
        await _pages(peer, below)
    await peer.request(METHOD, {"uri": uri})
    await peer.request(METHOD, {"uri": f"{directory_of(uri)}/assay-lab-knows-of-no-such-directory"})


async def _pages(peer: Peer, uri: str) -> None:
    params: dict[str, Any] = {"uri": uri}
    for _ in range(PAGES):
        cursor = (await peer.request(METHOD, params)).result.get("nextCursor")
        if not isinstance(cursor, str):
            break
        params = {"uri": uri, "cursor": cursor}


# --- how it is judged


FLAG = "sep-2640-capability-directory-read-flag"
THERE = "sep-2640-directory-read-method-registered"
SHAPE = "sep-2640-directory-read-result-resources-shape"
KIND = "sep-2640-directory-read-subdir-mimetype"
REFUSED = "sep-2640-directory-read-invalid-params"
PAGED = "sep-2640-directory-read-pagination"
DIRECTORY = "inode/directory"


@official_check(
    "sep-2640-skills-directory",
    "Directories of skills can be read",
    requirements=(FLAG, THERE, SHAPE, KIND, REFUSED, PAGED),
)
def judge_sep_2640_skills_directory(trace: Trace) -> Iterator[Observation]:
    known = _known(trace)
    read = [listing for listing in listings(trace, METHOD, "resources") if _uri(listing) in known]
    for exchange, settings, _ in declared_settings(trace) if read else ():
        flag = as_object(settings).get("directoryRead")
        if flag is not None:
            holds, observed = isinstance(flag, bool), f"directoryRead {flag!r}"
            yield observe(FLAG, holds, exchange, expected="directoryRead as a boolean", observed=observed)
    for listing in read:
        yield from _judge_directory(listing, known[_uri(listing)])
    for exchange in answered(trace, METHOD) if any(listing.complete for listing in read) else ():
        if str(exchange.params.get("uri")) not in known:
            holds = exchange.code == INVALID_PARAMS
            expected = f"error {INVALID_PARAMS}: it is not a directory"
            yield observe(REFUSED, holds, exchange, expected=expected, observed=exchange)


def _known(trace: Trace) -> dict[str, dict[str, str | None]]:
    """The directories of skills by their entries, with the children of each."""
    known: dict[str, dict[str, str | None]] = {}
    for _, entry in listed_entries(trace):
        home = directory_of(uri_of(entry) or "")
        for directory in [] if home is None else [home, *subdirectories(entry)]:
            known[directory] = children(entry, directory)
    return known


def _uri(listing: Listing) -> str:
    return str(listing.pages[0].params.get("uri"))


def _judge_directory(listing: Listing, known: dict[str, str | None]) -> Iterator[Observation]:
    first = listing.pages[0]
    if first.answer is None:
        return
    expected = "a result: the skill has this directory"
    yield observe(THERE, first.result is not None, first, expected=expected, observed=first)
    if first.result is None:
        return
    yield observe_pages(PAGED, listing)
    expected = f"all direct children of {_uri(listing)}"
    yield no_faults(SHAPE, _shape_faults(listing, known), listing, expected=expected)
    for item in listing.items:
        if known.get(str(item.get("uri"))) == DIRECTORY:
            kind = item.get("mimeType")
            observed = f"mimeType {kind!r} of {item.get('uri')}"
            yield observe(KIND, kind == DIRECTORY, listing, expected=DIRECTORY, observed=observed)


def _shape_faults(listing: Listing, known: dict[str, str | None]) -> Iterator[str]:
    for page in listing.pages:
        if not isinstance((page.result or {}).get("resources"), list):
            yield f"resources {(page.result or {}).get('resources')!r}"
    items = [item for page in listing.pages for item in page.items("resources")]
    uris = [as_object(item).get("uri") for item in items]
    for uri in uris:
        below = str(uri).removeprefix(f"{_uri(listing)}/")
        if not isinstance(uri, str) or below == uri or "/" in below.rstrip("/"):
            yield f"the child {uri!r}"
    if listing.complete:
        yield from (f"no {uri}" for uri in known if uri not in uris)


# --- what the checks must catch


@on_reply("takes a file for a directory", breaks=REFUSED)
def file_as_directory(reply: Json, context: FaultContext) -> Json:
    refused = context.method == METHOD and "error" in reply
    return result_reply(reply, {"resultType": "complete", "resources": []}) if refused else reply


@on_reply("does not know resources/directory/read", breaks=THERE)
def directory_method_missing(reply: Json, context: FaultContext) -> Json:
    return error_reply(reply, METHOD_NOT_FOUND, "method not found") if context.method == METHOD else reply


@on_reply("refuses its own cursor", breaks=PAGED)
def second_page_missing(reply: Json, context: FaultContext) -> Json:
    refused = context.method == METHOD and "cursor" in context.params
    return error_reply(reply, INVALID_PARAMS, "no such page") if refused else reply


@on_result("omits a child of a directory", breaks=SHAPE, method=METHOD)
def child_left_out(result: Json, context: FaultContext) -> None:
    result["resources"] = result["resources"][1:]


@on_result("returns children without a uri", breaks=SHAPE, method=METHOD)
def directory_as_names(result: Json, context: FaultContext) -> None:
    result["resources"] = [{"name": item["name"]} for item in result["resources"]]


@on_result("returns directories with the type of a file", breaks=KIND, method=METHOD)
def directory_as_file(result: Json, context: FaultContext) -> None:
    for item in result["resources"]:
        item["mimeType"] = "text/markdown"


RESULT_EDITS: Final = edited_results(
    "server/discover",
    (
        "skills.flag-in-quotes",
        "declares directoryRead as a string",
        FLAG,
        ("capabilities", "extensions", SKILLS),
        {"directoryRead": "true"},
    ),
)
