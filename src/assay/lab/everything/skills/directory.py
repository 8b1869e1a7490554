"""Directories of skills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.evidence import answered, no_faults
from assay.lab.everything.fixture import HAS_SKILLS, SKILLS
from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    on_reply,
    on_result,
)
from assay.lab.harness.driver.peer import PAGES, Peer
from assay.lab.harness.need import declares
from assay.lab.harness.trace.listing import Listing, listings
from assay.model.error import INVALID_PARAMS

from .listing import declared_settings, listed_entries
from .skill_entry import Entry, children, directory_of, name_in, subdirectories, uri_of

# --- what is asked


METHOD = "resources/directory/read"


@official_scenario(
    "sep-2640-skills-directory",
    "The directories of skills can be read",
    needs=(HAS_SKILLS, declares("extensions", SKILLS, "directoryRead")),
)
async def drive_sep_2640_skills_directory(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    entries = [one for one in await peer.pages("skills/list", "skills") if isinstance(one, dict)]
    skills = [one for one in entries if name_in(uri_of(one) or "")]
    chosen = max(skills, key=lambda one: len(subdirectories(one)), default=None)
    if chosen is not None:
        await _read(peer, chosen)


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
    "Directories of skills",
    requirements=(FLAG, THERE, SHAPE, KIND, REFUSED, PAGED),
)
def judge_sep_2640_skills_directory(trace: Trace) -> Iterator[Observation]:
    known = _known(trace)
    read = [one for one in listings(trace, METHOD, "resources") if _uri(one) in known]
    if read:
        yield from _judge_flag(trace)
    for listing in read:
        yield from _judge_directory(listing, known[_uri(listing)])
    if any(listing.complete for listing in read):
        for exchange in answered(trace, METHOD):
            if str(exchange.params.get("uri")) not in known:
                faults = [] if exchange.code == INVALID_PARAMS else [str(exchange)]
                yield no_faults(
                    REFUSED, faults, exchange, expected=f"error {INVALID_PARAMS}: it is no directory"
                )


def _judge_flag(trace: Trace) -> Iterator[Observation]:
    """What a flag says means something where it is put to the test."""
    for exchange, settings, _ in declared_settings(trace):
        flag = settings.get("directoryRead") if isinstance(settings, dict) else None
        if flag is not None:
            faults = [] if isinstance(flag, bool) else [f"directoryRead {flag!r}"]
            yield no_faults(FLAG, faults, exchange, expected="directoryRead, as true or false")


def _known(trace: Trace) -> dict[str, dict[str, str | None]]:
    """Directories that skills have by their own entries, with what is directly in each."""
    found: dict[str, dict[str, str | None]] = {}
    for _, entry in listed_entries(trace):
        home = directory_of(uri_of(entry) or "")
        for directory in [] if home is None else [home, *subdirectories(entry)]:
            found[directory] = children(entry, directory)
    return found


def _uri(listing: Listing) -> str:
    return str(listing.pages[0].params.get("uri"))


def _judge_directory(listing: Listing, expected: dict[str, str | None]) -> Iterator[Observation]:
    first, *others = listing.pages
    if first.answer is None:
        return
    faults = [] if first.result is not None else [str(first)]
    yield no_faults(THERE, faults, first, expected="a result: the skill has this directory")
    if first.result is None:
        return
    refused = [str(page) for page in others if page.result is None]
    endless = [] if refused or listing.complete else [f"a cursor after {len(listing.pages)} pages"]
    yield no_faults(PAGED, refused + endless, *listing.pages[-2:], expected="a last page")
    wanted = f"direct children of {_uri(listing)}, all of them"
    yield no_faults(SHAPE, _shape_faults(listing, expected), listing, expected=wanted)
    for item in listing.items:
        if expected.get(str(item.get("uri"))) == DIRECTORY:
            kind = item.get("mimeType")
            faults = [] if kind == DIRECTORY else [f"mimeType {kind!r} of {item.get('uri')}"]
            yield no_faults(KIND, faults, listing, expected=DIRECTORY)


def _shape_faults(listing: Listing, expected: dict[str, str | None]) -> Iterator[str]:
    home = _uri(listing)
    for page in listing.pages:
        if not isinstance((page.result or {}).get("resources"), list):
            yield f"resources {(page.result or {}).get('resources')!r}"
    uris = [
        item.get("uri") if isinstance(item, dict) else None
        for page in listing.pages
        for item in page.items("resources")
    ]
    for uri in uris:
        below = str(uri).removeprefix(f"{home}/")
        if not isinstance(uri, str) or below == uri or "/" in below.rstrip("/"):
            yield f"the child {uri!r}"
    if listing.complete:
        yield from (f"no {uri}" for uri in expected if uri not in uris)


# --- what the checks must catch


@on_reply("a file is taken for a directory", breaks="sep-2640-directory-read-invalid-params", double=DOUBLE)
def file_as_directory(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "error" in reply:
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"resultType": "complete", "resources": []}}
    return reply


@on_reply(
    "resources/directory/read is unknown", breaks="sep-2640-directory-read-method-registered", double=DOUBLE
)
def directory_method_missing(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read":
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32601, "message": "method not found"}}
    return reply


@on_reply(
    "the cursor of a directory leads nowhere", breaks="sep-2640-directory-read-pagination", double=DOUBLE
)
def second_page_missing(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "cursor" in context.params:
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "no such page"}}
    return reply


@on_result(
    "a child of a directory is left out",
    breaks="sep-2640-directory-read-result-resources-shape",
    double=DOUBLE,
    method="resources/directory/read",
)
def child_left_out(result: Json, context: FaultContext) -> None:
    result["resources"] = result["resources"][1:]


@on_result(
    "a child has no uri",
    breaks="sep-2640-directory-read-result-resources-shape",
    double=DOUBLE,
    method="resources/directory/read",
)
def directory_as_names(result: Json, context: FaultContext) -> None:
    names = [{"name": item["name"]} for item in result["resources"]]
    result["resources"] = names


@on_result(
    "a directory has the type of a file",
    breaks="sep-2640-directory-read-subdir-mimetype",
    double=DOUBLE,
    method="resources/directory/read",
)
def directory_as_file(result: Json, context: FaultContext) -> None:
    for item in result["resources"]:
        item["mimeType"] = "text/markdown"


RESULT_EDITS: Final = edited_results(
    "server/discover",
    (
        "skills.flag-in-quotes",
        "directoryRead is a string",
        "sep-2640-capability-directory-read-flag",
        ("capabilities", "extensions", SKILLS),
        {"directoryRead": "true"},
    ),
    double=DOUBLE,
)
