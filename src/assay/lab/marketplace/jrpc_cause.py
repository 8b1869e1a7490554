"""Why a request cannot be served, and the code that JSON-RPC and the revision have for that."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.transport import Transport
from assay.model import error
from assay.revisions.revision import Opening, Revision

PROBE: Final = "cause"
UNKNOWN_METHOD: Final = "an unknown method"
BAD_PARAMS: Final = "parameters that do not fit"
NO_RESOURCE: Final = "a resource that is not there"
UNKNOWN_VERSION: Final = "an unknown version"
OTHER_HEADER: Final = "a header that does not repeat the body"
_CODES: Final = {
    UNKNOWN_METHOD: error.METHOD_NOT_FOUND,
    BAD_PARAMS: error.INVALID_PARAMS,
    UNKNOWN_VERSION: error.UNSUPPORTED_VERSION,
    OTHER_HEADER: error.HEADER_MISMATCH,
}


def codes_for(cause: str, transport: str, revision: Revision) -> frozenset[int]:
    """The codes that fit; none for a cause that nobody knows."""
    if cause == NO_RESOURCE:
        # Where a revision has a code of its own for it, that is a SHOULD: the usual one is no fault.
        return frozenset({revision.resource_not_found, error.INVALID_PARAMS})
    found = {_CODES[cause]} if cause in _CODES else set()
    # A parameter that is left out is also one that its header does not repeat.
    headed = transport == Transport.HTTP and revision.opening is Opening.PER_REQUEST
    return frozenset(found | ({error.HEADER_MISMATCH} if headed and cause == BAD_PARAMS else set()))
