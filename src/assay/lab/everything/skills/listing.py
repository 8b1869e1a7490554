"""What a trace shows of skills: their entries, and the files that were read."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import Any

from assay.lab.everything.evidence import answered
from assay.lab.everything.fixture import SKILLS
from assay.lab.harness import Trace
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.self_description import as_object

from .skill_entry import Entry


def skill_listings(trace: Trace) -> Iterator[Listing]:
    return listings(trace, "skills/list", "skills")


def listed_entries(trace: Trace) -> Iterator[tuple[Exchange, Entry]]:
    """Every entry with the page that it is on; what is no object as an entry without anything."""
    for listing in skill_listings(trace):
        for page in listing.pages:
            for item in page.items("skills"):
                yield page, item if isinstance(item, dict) else {}


def declared_settings(trace: Trace) -> Iterator[tuple[Exchange, Any, dict[str, Any]]]:
    """Every declaration of the extension: its settings, and all capabilities."""
    for exchange in answered(trace, "server/discover"):
        capabilities = as_object((exchange.result or {}).get("capabilities"))
        extensions = as_object(capabilities.get("extensions"))
        if SKILLS in extensions:
            yield exchange, extensions[SKILLS], capabilities


def files_read(trace: Trace) -> dict[str, Exchange]:
    """What was read, by URI; the first reading counts."""
    found: dict[str, Exchange] = {}
    for exchange in answered(trace, "resources/read"):
        found.setdefault(str(exchange.params.get("uri")), exchange)
    return found


def text_in(exchange: Exchange) -> str | None:
    """The text of a file that was read as one."""
    texts = [item.get("text") for item in exchange.objects("contents")]
    return next((text for text in texts if isinstance(text, str)), None)


def bytes_in(exchange: Exchange) -> bytes | None:
    """A file as bytes; none where it was not read."""
    text = text_in(exchange)
    if text is not None:
        return text.encode("utf-8", "surrogatepass")
    blob = next((item.get("blob") for item in exchange.objects("contents")), None)
    try:
        return b64decode(blob, validate=True) if isinstance(blob, str) else None
    except (Error, ValueError):
        return None
