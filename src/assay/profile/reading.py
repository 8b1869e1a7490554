"""Resource reads: each of the contents says how long it may be kept, and what bytes it is."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from assay.model.content import Contents
from assay.model.error import RpcError
from assay.model.result import ReadResult
from assay.protocol.layer import ResourceGroup

from .keys import PROVENANCE, RETENTION
from .retention import Retention, tier_in

TEXT: Final = "text-utf8"
BLOB: Final = "blob"


def tagged(result: ReadResult, uri: str, resources: ResourceGroup, retention: Retention) -> ReadResult:
    """The same contents under tags; what else the author has put there stays."""
    about = tier_in(meta_of(uri, resources), f"resource {uri}")
    return ReadResult([_tag(contents, about, retention) for contents in result.contents])


def meta_of(uri: str, resources: ResourceGroup) -> Any:
    """The `_meta` of the resource or template that was read."""
    found = resources.registry.get(uri)
    if found is None:
        try:
            found, _ = resources.find(uri)
        except RpcError:  # it has gone while it was read
            return None
    return found.definition.meta


def _tag(contents: Contents, about: str | None, retention: Retention) -> Contents:
    own = tier_in(contents.meta, f"resource {contents.uri}")
    tier = own or about or retention.by_uri(contents.uri)
    meta = {RETENTION: {"tier": tier}, **(contents.meta or {}), PROVENANCE: provenance(contents)}
    return Contents(contents.uri, contents.text, contents.blob, contents.mime_type, meta)


def provenance(contents: Contents) -> dict[str, str]:
    """Of the exact bytes: nothing is written anew."""
    data, over = (contents.blob, BLOB) if contents.text is None else (contents.text.encode(), TEXT)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return {"alg": "sha-256", "digest": sha256(data or b"").hexdigest(), "over": over, "asOf": f"{now}Z"}


def tier_of(result: ReadResult) -> str:
    """Of what was read and tagged; of the first, where several things were."""
    tier: str = (result.contents[0].meta or {})[RETENTION]["tier"]
    return tier
