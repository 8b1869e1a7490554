"""Resource reads: tag all contents with a retention tier and the digest of their bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from assay.model.content import Contents
from assay.model.error import RpcError
from assay.model.result import ReadResult
from assay.protocol.middleware import ResourceGroup

from .keys import PROVENANCE, RETENTION
from .retention import Retention, tier_in

TEXT: Final = "text-utf8"
BLOB: Final = "blob"


def tag(result: ReadResult, uri: str, resources: ResourceGroup, retention: Retention) -> ReadResult:
    """Add the tags; the author's own `_meta` wins, except for the provenance."""
    declared = tier_in(meta_of(uri, resources), f"resource {uri}")
    return ReadResult([_tag_contents(contents, declared, retention) for contents in result.contents])


def meta_of(uri: str, resources: ResourceGroup) -> Any:
    """The `_meta` of the resource or template that was read."""
    resource = resources.registry.get(uri)
    if resource is None:
        try:
            resource, _ = resources.find(uri)
        except RpcError:  # removed while it was read
            return None
    return resource.definition.meta


def _tag_contents(contents: Contents, declared: str | None, retention: Retention) -> Contents:
    own = tier_in(contents.meta, f"resource {contents.uri}")
    tier = own or declared or retention.by_uri(contents.uri)
    meta = {RETENTION: {"tier": tier}, **(contents.meta or {}), PROVENANCE: provenance(contents)}
    return Contents(contents.uri, contents.text, contents.blob, contents.mime_type, meta)


def provenance(contents: Contents) -> dict[str, str]:
    """The digest of the exact bytes: nothing is re-encoded."""
    data, over = (contents.blob, BLOB) if contents.text is None else (contents.text.encode(), TEXT)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return {"alg": "sha-256", "digest": sha256(data or b"").hexdigest(), "over": over, "asOf": f"{now}Z"}


def tier_of(result: ReadResult) -> str:
    """The tier of the first of the tagged contents."""
    tier: str = (result.contents[0].meta or {})[RETENTION]["tier"]
    return tier
