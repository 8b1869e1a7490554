"""Whether a server may be sent batches."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.subject.registry_entry import as_object, profile_block
from assay.revisions.revision import Batching, Revision


def batches_are_welcome(entry: Any, revision: Revision) -> bool:
    """Whether the registry entry lists them, and the revision has them."""
    listed = as_object(profile_block(entry).get("jsonrpc")).get("batch") is True
    return listed and revision.batching is Batching.ACCEPTED
