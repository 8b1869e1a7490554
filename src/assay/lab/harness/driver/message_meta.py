"""Client information in `_meta`, in the revisions where every request carries it."""

from __future__ import annotations

from typing import Any, Final

from assay.revisions.revision import Opening, Revision

PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = f"{PREFIX}protocolVersion"
CAPABILITIES_KEY: Final = f"{PREFIX}clientCapabilities"
CLIENT_KEY: Final = f"{PREFIX}clientInfo"
SERVER_KEY: Final = f"{PREFIX}serverInfo"
SUBSCRIPTION_KEY: Final = f"{PREFIX}subscriptionId"
LOG_LEVEL_KEY: Final = f"{PREFIX}logLevel"
CLIENT: Final = {"name": "assay-lab", "version": "1"}


def declared(revision: Revision, params: Any, capabilities: dict[str, Any]) -> Any:
    """The parameters with the client information that the revision requires. Parameters other than an object
    are returned unchanged."""
    if revision.opening is Opening.HANDSHAKE or not isinstance(params, dict):
        return params
    own = params.get("_meta")
    if own is not None and not isinstance(own, dict):
        return params
    meta = {VERSION_KEY: revision.date, CLIENT_KEY: CLIENT, CAPABILITIES_KEY: capabilities, **(own or {})}
    return {**params, "_meta": {key: value for key, value in meta.items() if value is not None}}
