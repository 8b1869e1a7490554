"""A directory lists what is directly in it, and what is no directory is refused."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged
from assay.lab.everything.skill_entry import children, directory_of, subdirectories, uri_of
from assay.lab.everything.skill_listing import declared_settings, listed_entries
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.model.error import INVALID_PARAMS

FLAG = "sep-2640-capability-directory-read-flag"
THERE = "sep-2640-directory-read-method-registered"
SHAPE = "sep-2640-directory-read-result-resources-shape"
KIND = "sep-2640-directory-read-subdir-mimetype"
REFUSED = "sep-2640-directory-read-invalid-params"
PAGED = "sep-2640-directory-read-pagination"
METHOD = "resources/directory/read"
DIRECTORY = "inode/directory"


@official_check(
    "sep-2640-skills-directory", "Directories of skills", rows=(FLAG, THERE, SHAPE, KIND, REFUSED, PAGED)
)
def judge(trace: Trace) -> Iterator[Observation]:
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
                yield judged(
                    REFUSED, faults, exchange, expected=f"error {INVALID_PARAMS}: it is no directory"
                )


def _judge_flag(trace: Trace) -> Iterator[Observation]:
    """What a flag says means something where it is put to the test."""
    for exchange, settings, _ in declared_settings(trace):
        flag = settings.get("directoryRead") if isinstance(settings, dict) else None
        if flag is not None:
            faults = [] if isinstance(flag, bool) else [f"directoryRead {flag!r}"]
            yield judged(FLAG, faults, exchange, expected="directoryRead, as true or false")


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
    yield judged(THERE, faults, first, expected="a result: the skill has this directory")
    if first.result is None:
        return
    refused = [str(page) for page in others if page.result is None]
    endless = [] if refused or listing.complete else [f"a cursor after {len(listing.pages)} pages"]
    yield judged(PAGED, refused + endless, *listing.pages[-2:], expected="a last page")
    wanted = f"direct children of {_uri(listing)}, all of them"
    yield judged(SHAPE, _shape_faults(listing, expected), listing, expected=wanted)
    for item in listing.items:
        if expected.get(str(item.get("uri"))) == DIRECTORY:
            kind = item.get("mimeType")
            faults = [] if kind == DIRECTORY else [f"mimeType {kind!r} of {item.get('uri')}"]
            yield judged(KIND, faults, listing, expected=DIRECTORY)


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
