"""No batches; structured tool output, resource links, form elicitation, the version header."""

from __future__ import annotations

from .r2025_03_26 import REVISION as PREDECESSOR
from .revision import Batching, HttpRules, Structured

REVISION = PREDECESSOR.successor(
    "2025-06-18",
    batching=Batching.REFUSED,
    structured=Structured.OBJECT,
    http=HttpRules(version_header=True),
    added={"content": {"resource_link"}, "elicitation": {"form"}},
)
