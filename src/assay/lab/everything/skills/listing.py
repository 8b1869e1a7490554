"""Skills in a trace: their entries and the files that were read, and saboteurs of a server with skills."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from functools import partial
from typing import Any

from assay.lab import harness
from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness import Observation, Trace
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.extension_method import SKILLS
from assay.lab.suite.self_description import as_object
from assay.lab.suite.skill_entry import Entry


def skill_listings(trace: Trace) -> Iterator[Listing]:
    return listings(trace, "skills/list", "skills")


def listed_entries(trace: Trace) -> Iterator[tuple[Exchange, Entry]]:
    """Every entry with its page; an item that is not an object counts as an empty entry."""
    for listing in skill_listings(trace):
        for page in listing.pages:
            for item in page.items("skills"):
                yield page, as_object(item)


def observe_pages(requirement: str, listing: Listing) -> Observation:
    """The pages of a list are served to the end."""
    refused = [str(page) for page in listing.pages[1:] if page.result is None]
    endless = [] if refused or listing.complete else [f"a cursor after {len(listing.pages)} pages"]
    return no_faults(requirement, refused + endless, *listing.pages[-2:], expected="a last page")


def declared_settings(trace: Trace) -> Iterator[tuple[Exchange, Any, dict[str, Any]]]:
    """Every declaration of the extension: its settings, and all capabilities."""
    for exchange in answered(trace, "server/discover"):
        capabilities = as_object((exchange.result or {}).get("capabilities"))
        extensions = as_object(capabilities.get("extensions"))
        if SKILLS in extensions:
            yield exchange, extensions[SKILLS], capabilities


def files_read(trace: Trace) -> dict[str, Exchange]:
    """The first reading of each resource, by URI."""
    exchanges: dict[str, Exchange] = {}
    for exchange in answered(trace, "resources/read"):
        exchanges.setdefault(str(exchange.params.get("uri")), exchange)
    return exchanges


def text_in(exchange: Exchange) -> str | None:
    """The text of a file, if it was read as text."""
    texts = [item.get("text") for item in exchange.objects("contents")]
    return next((text for text in texts if isinstance(text, str)), None)


def bytes_in(exchange: Exchange) -> bytes | None:
    """The bytes of a file, if it could be read."""
    text = text_in(exchange)
    if text is not None:
        return text.encode("utf-8", "surrogatepass")
    blob = next((item.get("blob") for item in exchange.objects("contents")), None)
    try:
        return b64decode(blob, validate=True) if isinstance(blob, str) else None
    except (Error, ValueError):
        return None


# The makers of saboteurs, for a server with the double of the extension.
on_reply = partial(harness.on_reply, double=DOUBLE)
on_result = partial(harness.on_result, double=DOUBLE)
edited_results = partial(harness.edited_results, double=DOUBLE)
